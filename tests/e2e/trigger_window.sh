#!/usr/bin/env bash
# A trigger in a channel that keeps its window in memory, and one in a ring, while a session runs: each names exactly the window that
# was asked for, and the recording has it. From memory it is in as few blocks as can.
#   trigger_window.sh [--busy]     beside a process that keeps one core busy: only with TAPEDECK_LONG=1, as whatever runs beside other
#                                  tests has no core to itself
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RATE=1000000

# has_begun BLOCKS: the newest job has moved some blocks.
has_begun() { tapectl_json jobs list | jq -e ".jobs[0].blocks >= $1"; }

is_closed() { tapectl_json recordings list --segments "$1" | jq -e --arg name "$2" '.recordings[] | select(.name | endswith("/" + $name)) | .state == "SEALED"'; }

# is_the_window: what the trigger has said it keeps is two seconds before it, from the beginning of a block on, and one after it. It
# is there, as it was made. In a ring it may end in the next segment.
is_the_window() {
  local recording first trigger end channel begin
  read -r recording first trigger end < <(tail -n 1 "$WORK/capture")
  ((trigger - first >= 2 * RATE && end - trigger == RATE)) || fail "not the window: $(tail -n 1 "$WORK/capture")"
  channel=${recording%/*}
  wait_for 60 is_closed "$channel" "${recording##*/}" || fail "$recording is not closed"
  # Positions count from the first sample that the recording has.
  begin=$(tapectl_json recordings show "$recording" | jq .first_sample)
  first=$((first - begin)) end=$((end - begin))
  tapectl play "$recording" --from-sample "$first" --to-sample "$end" --sink verify || fail "$recording does not play from $first to $end"
  [[ $channel == ring/* ]] || tapectl play "$recording" --from-sample $((end - 1)) --sink verify || fail "$recording ends before $end"
}

# triggered CHANNEL: once there is more than the seconds before a trigger.
triggered() {
  tapectl record "$1" --source synth --duration 1h &
  wait_for 60 has_begun $((RATE * 8 * 3 / MIB)) || fail "no session in $1"
  tapectl trigger "$1" --label seen | tee "$WORK/capture"
  is_the_window
  tapectl jobs cancel "$(tapectl_json jobs list | jq -r '[.jobs[] | select(.end_time == null)][0].name')" >/dev/null
  wait $! || true
}

spin() { while true; do true; done; }

begin_test
if [[ ${1:-} == --busy ]]; then
  [[ -n ${TAPEDECK_LONG:-} ]] || skip "a process that keeps a core busy; TAPEDECK_LONG=1 or deploy/test.sh --all runs it"
  spin &
fi
start_storage
start_worker
mkdir "$WORK/disk" "$WORK/ring"
tapectl lun create l0 --store posix --member "$WORK/disk" --capacity 4GiB
tapectl channel create l0/seen --sample-rate $RATE --commit received --pre-trigger 2s --post-trigger 1s
triggered l0/seen
json_is "$(tapectl_json recordings list l0/seen)" ".recordings[-1] | .blocks * .block_bytes < 8 * 3 * $RATE + 2 * .block_bytes" "more than the window"
tapectl lun create ring --store direct --member "$WORK/ring" --capacity 20GiB --full-policy ring
tapectl channel create ring/c0 --sample-rate $RATE --pre-trigger 2s --post-trigger 1s
triggered ring/c0
