#!/usr/bin/env bash
# kill -9 of the storage node at random points of a recording and of its own recovery, again and again: what was
# acknowledged, by a ledger that the node never sees, is there after each restart and verifies.
#   tests/crash/kill_node.sh [--cycles N] [--seed N]        N kills; over posix, direct and block, written and durable in turn
# A failing run prints its seed. The kernel outlives the process: this proves the order of writes towards the kernel and
# the recovery, not what a power cut leaves (tests/sim).
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

CYCLES=200 SEED=$RANDOM
while [[ $# -gt 0 ]]; do
  case $1 in
    --cycles) CYCLES=$2 && shift 2 ;;
    --seed) SEED=$2 && shift 2 ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done
RANDOM=$SEED
KINDS=({posix,direct,block}/{written,durable})
CHECKED=0 WORST_MS=0 RECOVERIES=0

# pause MILLISECONDS
pause() { sleep "$(printf '0.%03d' "$1")"; }

# kill_while_recording CHANNEL: leaves RECORDING and ACKNOWLEDGED, what the worker was told before the node died.
kill_while_recording() {
  local before
  before=$(newest_recording)
  tapectl_json record "$1" --source synth --duration 60s >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 20 has_newer_recording "$before" || fail "seed $SEED: no recording began: $(cat "$WORK/job.json")"
  pause $((RANDOM % 250))
  kill -KILL "$STORAGE_PID"
  end_job
  RECORDING=$(jq -r '.recording // empty' "$WORK/job.json")
  ACKNOWLEDGED=$(job | jq '.blocks // 0')
  echo "$1 $RECORDING $ACKNOWLEDGED" >>"$WORK/ledger"
}

has_newer_recording() { [[ $(newest_recording) != "$1" ]]; }

# restart: every fourth time the node is killed once more while it starts.
restart() {
  local began
  if ((RANDOM % 4 == 0)); then
    "$TAPEDECK_BIN/tapedeck-storage" --listen "$TAPEDECK_STORAGE" --state "$WORK/state" "${STORAGE_RAILS[@]}" \
      2>>"$WORK/storage.log" &
    pause $((RANDOM % 60))
    kill -KILL $!
    wait $! 2>/dev/null || true
    RECOVERIES=$((RECOVERIES + 1))
  fi
  began=$(milliseconds)
  start_storage
  began=$(($(milliseconds) - began))
  WORST_MS=$((began > WORST_MS ? began : WORST_MS))
}

# check_ledger: the recording of this cycle, block by block; sometimes played too.
check_ledger() {
  local report
  ((ACKNOWLEDGED > 0)) || return 0
  wait_for 10 is_closed "$RECORDING" || fail "seed $SEED: $RECORDING is not closed"
  json_is "$(tapectl_json recordings show "$RECORDING")" ".blocks >= $ACKNOWLEDGED" "seed $SEED: $RECORDING"
  report=$(tapectl_json recordings verify "$RECORDING" || true)
  json_is "$report" "[.damaged[]? | select(.sequence < $ACKNOWLEDGED or .kind != \"missing\")] == []" \
    "seed $SEED: $ACKNOWLEDGED blocks of $RECORDING were acknowledged"
  ((RANDOM % 8)) || json_is "$(tapectl_json play "$RECORDING" --sink verify)" '.crc_errors == 0' "seed $SEED: $RECORDING"
  CHECKED=$((CHECKED + ACKNOWLEDGED))
}

begin_test
start_storage
start_worker
for kind in "${KINDS[@]}"; do
  CAPACITY=64GiB lun_with_channel "${kind%/*}" "${kind/\//-}/c0" cf32_le 256KiB --commit "${kind#*/}"
done
echo "seed $SEED"
for ((cycle = 0; cycle < CYCLES; cycle++)); do
  kill_while_recording "${KINDS[cycle % ${#KINDS[@]}]/\//-}/c0"
  restart
  check_ledger
  # Every recording lives through some restarts.
  ((cycle < 8)) ||
    tapectl recordings delete "$(tapectl_json recordings list | jq -r '.recordings[-1].name')" >/dev/null
done
echo "$CYCLES kills while recording, $RECOVERIES while recovering: $CHECKED acknowledged blocks, 0 lost;" \
  "the longest restart took $WORST_MS ms"
((WORST_MS <= 2000)) || fail "a restart took $WORST_MS ms, over 2 s"
