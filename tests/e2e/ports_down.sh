#!/usr/bin/env bash
# RDMA ports that fail while blocks move: one port, which comes back; then both, which do not.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
[[ $RAIL_KIND == verbs ]] || skip "needs rails over verbs; two_rails.sh is the same for TCP"
own_the_rails "$@"

BLOCKS=$(scaled 4000)
STALL_LIMIT_MS=1000

blocks_moved() { job | jq .blocks; }

blocks_of_r1() { job | jq '[.rails[] | select(.name == "r1") | .blocks] | add // 0'; }

# longest_stall_ms SECONDS: the longest time in which the job's count of blocks stood still.
longest_stall_ms() {
  local until=$(($(milliseconds) + $1 * 1000)) now last=0 since longest=0 count
  since=$(milliseconds)
  while now=$(milliseconds) && ((now < until)); do
    count=$(blocks_moved)
    if ((count != last)); then last=$count since=$now; fi
    ((now - since <= longest)) || longest=$((now - since))
  done
  echo "$longest"
}

carries_again() { (($(blocks_of_r1) > $1)); }

# port_flaps: one port goes for 3 s. The job goes on over the other, then over both again.
port_flaps() {
  local stall carried
  port_down 1
  stall=$(longest_stall_ms 3)
  echo "port down: the job stood still for at most $stall ms"
  ((stall <= STALL_LIMIT_MS)) || fail "the job stood still for $stall ms, allowed are $STALL_LIMIT_MS"
  carried=$(blocks_of_r1)
  port_up 1
  wait_for 15 carries_again "$carried" || fail "the port is up again, but its rail carries nothing: $(job)"
}

# through_flaps TAPECTL_ARGUMENT...: the job is whole, with the fault in its middle.
through_flaps() {
  start_job "$@"
  port_flaps
  end_job
  ((JOB_STATUS == 0)) || fail "tapectl $*: $ANSWER"
  is_whole "$ANSWER" "tapectl $*"
  json_is "$ANSWER" ".blocks == $BLOCKS" "blocks of tapectl $*"
}

# both_down: the session ends within its grace period and names the cause; what was acknowledged is there.
both_down() {
  local recording seen started took
  start_job record ports/c0 --source synth --blocks "$BLOCKS"
  recording=$(newest_recording)
  seen=$(blocks_moved)
  port_down 0
  port_down 1
  started=$(milliseconds)
  end_job
  took=$(($(milliseconds) - started))
  port_up 0
  port_up 1
  echo "both ports down: the job ended after $took ms: $(jq -c '.error // .' <<<"$(grep '^{' <<<"$ANSWER" | tail -n 1)")"
  ((JOB_STATUS != 0)) || fail "the job reports success: $ANSWER"
  ((took < 15000)) || fail "the job ended only after $took ms"
  expect_error_in "$ANSWER" UNAVAILABLE ALL_RAILS_DOWN
  wait_for 15 is_closed "$recording" || fail "$(tapectl_json recordings show "$recording")"
  json_is "$(tapectl_json recordings show "$recording")" ".durable_watermark >= $seen" "durable blocks"
  tapectl recordings verify "$recording" >/dev/null
  is_whole "$(tapectl_json play "$recording" --sink verify)" "playing what was saved"
}

begin_test
start_storage
start_worker
CAPACITY=$((BLOCKS * 9 / 4))MiB lun_with_channel memory ports/c0 cf32_le 1MiB
through_flaps record ports/c0 --source synth --blocks "$BLOCKS"
through_flaps play "$(jq -r .recording <<<"$ANSWER")" --sink verify
both_down
