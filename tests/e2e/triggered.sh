#!/usr/bin/env bash
# A triggered channel from outside. Nothing is listed for a trigger or a sample that has not come. `latest` is the newest
# capture, and its name and start are those of its own samples. The job names its captures. The stream's end seals a
# capture that it cuts.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

recordings() { tapectl_json recordings list "$1" | jq -c '[.recordings[].name]'; }
is_closed() { tapectl_json recordings show "$1" | jq -e '.state != "RECORDING"'; }
trigger() { tapectl_json trigger "$1" --label seen | jq -r '.captures[0].recording'; }
has_come() { [[ $(job '.blocks > 0') == true ]]; }

# stop_job JOB: its stream ends in order.
stop_job() {
  tapectl jobs stop "$1" >/dev/null
  end_job
  ((JOB_STATUS == 0)) || fail "the stream failed: $ANSWER"
}

waits() {
  local first second job
  start_job record l0/t --source synth --duration 1h
  job=$(job .name)
  json_is "$(tapectl_json trigger l0/t --sample 1000000000000)" ".captures[0].recording == \"\"" "a sample that is to come"
  wait_for 20 has_come || fail "no block has come"
  [[ $(recordings l0/t) == "[]" ]] || fail "nothing has triggered, and the list has $(recordings l0/t)"
  first=$(trigger l0/t)
  wait_for 20 is_closed "$first" || fail "$first is not closed"
  [[ $(recordings l0/t) == "[\"$first\"]" ]] || fail "$first alone was triggered, and the list has $(recordings l0/t)"
  json_is "$(tapectl_json play l0/t/latest --sink verify | tail -n 1)" ".recording == \"$first\" and .lost_blocks == 0" "latest"
  # shellcheck disable=SC2016
  json_is "$(tapectl_json recordings show "$first")" \
    '(.start_time[:19] | gsub("[-:]"; "")) as $begin | (.name | split("/")[-1] | startswith($begin + "Z-"))' \
    "name and start"
  second=$(trigger l0/t)
  wait_for 20 is_closed "$second" || fail "$second is not closed"
  json_is "$(tapectl_json recordings show l0/t/latest)" ".name == \"$second\"" "latest"
  stop_job "$job"
  json_is "$ANSWER" ".captures == [\"$first\", \"$second\"]" "the job's captures"
  echo "two triggers, two recordings"
}

is_cut() {
  local name job
  start_job record l0/long --source synth --duration 1h
  job=$(job .name)
  wait_for 20 has_come || fail "no block has come"
  name=$(trigger l0/long)
  stop_job "$job"
  wait_for 20 is_closed "$name" || fail "$name is not closed"
  json_is "$(tapectl_json recordings show "$name")" '.state == "SEALED" and .cause == "the stream ended before the capture did"' "the capture"
  echo "a capture that the stream's end cuts is sealed"
}

begin_test
start_storage
start_worker
lun_of_kind posix l0 --capacity 1GiB
for channel in t:20ms long:1h; do
  tapectl channel create "l0/${channel%:*}" --block-bytes 64KiB --sample-rate 1e6 --commit received --pre-trigger 20ms \
    --post-trigger "${channel#*:}" >/dev/null
done
waits
is_cut
