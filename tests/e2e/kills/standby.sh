# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: two storage nodes with the same LUN to take over, here on a directory that both see.

lun_is() { at "$1" lun list | jq -e "[.luns[] | select(.state == \"$2\")] | length == 1"; }

# holds_lun N: node N has the LUN; OTHER is the standby.
holds_lun() {
  HOLDER=$1 OTHER=$((1 - $1))
  over "$1"
  wait_for 20 lun_is "$OTHER" STANDBY || fail "node $OTHER is no standby: $(at "$OTHER" lun list)"
}

# pair: the two nodes, a worker, and what a standby refuses.
pair() {
  local answer
  CHANNEL=pair/c0 STORAGE_OPTIONS=(--standby-for "$WORK/member")
  mkdir "$WORK/member"
  start_nodes 2
  over 0
  start_worker
  tapectl lun create pair --store posix --member "$WORK/member" --capacity 8GiB >/dev/null
  tapectl channel create pair/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  holds_lun 0
  answer=$(at 1 record pair/c0 --source synth --blocks 1 2>&1) && fail "a standby records: $answer"
  expect_error_in "$answer" FAILED_PRECONDITION LUN_OFFLINE
  [[ $answer == *"pid ${PIDS[0]}"* ]] || fail "a standby does not say who has the LUN: $answer"
  answer=$(tapectl_json record pair/c0 --source synth --blocks 1 --standby "$TAPEDECK_STORAGE" 2>&1) && fail "a node is its own standby"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
}

# device_that_waits: of a low rate, recorded over all rounds.
device_that_waits() {
  ((ROUND == 0)) || return 0
  RECORD_OPTIONS=(--standby "${ADDRESSES[1]}")
  begin_ingest tcp=127.0.0.1:0,timeout=30
  "$TAPEDECK_BIN/tapedeck-emulator" --tcp "127.0.0.1:$PORT" --rate 8MB --duration $((4 * KILLS + 1))s >"$WORK/sent.json" &
  wait_for 10 job_is RUNNING 0 || fail "the job does not run: $(job)"
}

# other_takes_over: within 30 s, counted from the kill.
other_takes_over() {
  wait_for 30 job_is RUNNING $((ROUND + 1)) || fail "the job does not go on at the other node: $(job)"
  since_kill "the job goes on"
}

# all_that_was_sent: there is one recording with every block.
all_that_was_sent() {
  end_ingest
  json_is "$ANSWER" ".state == \"SUCCEEDED\" and .resumes == $KILLS and .lost_blocks == 0" "the job"
  RECORDING=$(jq -r .recording <<<"$ANSWER")
  json_is "$(tapectl_json recordings list pair/c0)" \
    ".recordings | length == 1 and (.[0] | .name == \"$RECORDING\" and .state == \"SEALED\" and .missing_blocks == 0)" "one recording"
  json_is "$(tapectl_json recordings show "$RECORDING")" ".bytes == 8 * $(jq .samples "$WORK/sent.json")" "all that was sent"
  json_is "$(tapectl_json recordings verify "$RECORDING")" '.damaged == []' "the recording"
  is_whole "$(tapectl_json play "$RECORDING" --sink verify | tail -n 1)" "playing it"
}
