#!/usr/bin/env bash
# Two rails share the work; cutting the connections of one, or the whole rail for a while, loses nothing. A worker that
# dies with one rail out leaves a gap at most where nothing was acknowledged.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
own_the_rails "$@"

# share ANSWER: each rail carried a good part of the blocks. How much is the matter of tests/bench: where other programs run, the rail
# whose threads get the processors has more.
share() {
  # shellcheck disable=SC2016
  json_is "$1" '([.rails[].blocks] | add) as $all | $all > 0 and (.rails | length) == 2
                and all(.rails[]; .blocks >= 0.1 * $all)' "shares of the rails"
}

# record_through FAULT: a recording with the fault in its middle is whole, and plays back whole.
record_through() {
  local recording
  start_job record rails/c0 --source synth --blocks "$BLOCKS"
  "$1"
  end_job
  ((JOB_STATUS == 0)) || fail "recording through $1 failed: $ANSWER"
  is_whole "$ANSWER" "recording through $1"
  json_is "$ANSWER" ".blocks == $BLOCKS" "blocks recorded through $1"
  recording=$(jq -r .recording <<<"$ANSWER")
  tapectl recordings verify "$recording" >/dev/null
  play_through "$1" "$recording"
  tapectl recordings delete "$recording" >/dev/null
}

play_through() {
  start_job play "$2" --sink verify
  "$1"
  end_job
  ((JOB_STATUS == 0)) || fail "playing through $1 failed: $ANSWER"
  is_whole "$ANSWER" "playing through $1"
  json_is "$ANSWER" ".blocks == $BLOCKS" "blocks played through $1"
}

# die_without_rail: what the rail had under way never comes, what came later over the other one is kept.
die_without_rail() {
  local recording seen
  start_job record rails/c0 --source synth --blocks "$BLOCKS"
  recording=$(newest_recording)
  rail_out
  sleep 0.1
  seen=$(job .blocks)
  kill_service "$WORKER_PID"
  rail_in
  end_job
  ((JOB_STATUS != 0)) || fail "tapectl reports success for a job whose worker died: $ANSWER"
  wait_for 15 is_closed "$recording" || fail "$(tapectl_json recordings show "$recording")"
  start_worker
  is_salvaged "$recording" "$seen" "the recording of a dead worker"
  echo "died with a rail out: $(tapectl_json recordings show "$recording" | jq -c '{blocks, missing_blocks, cause}')"
}

begin_test
start_storage
start_worker
# Of 1.6 GB, or of 170 MB at 75 MB/s.
BLOCKS=$(scaled 1600) BLOCK_KIB=1024
! pace_rails 600 || BLOCKS=640 BLOCK_KIB=256
CAPACITY=$((BLOCKS * BLOCK_KIB * 17 / 16 / 1024))MiB lun_with_channel memory rails/c0 cf32_le "${BLOCK_KIB}KiB"
answer=$(tapectl_json record rails/c0 --source synth --blocks $((BLOCKS / 2)))
share "$answer"
recording=$(jq -r .recording <<<"$answer")
share "$(tapectl_json play "$recording" --sink verify)"
tapectl recordings delete "$recording" >/dev/null
record_through cut_connections
record_through pull_cable
die_without_rail
