#!/usr/bin/env bash
# Metrics are what tapectl says, to the block, over four runs (twenty in the long form) each of which meets a fault: a rail that is
# cut, a LUN that is full, a job that is cancelled, a worker that is killed. Of what a killed worker counted nothing is left to
# compare; the storage node's counters go on.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
own_the_rails "$@"

# A GB, which a fast machine under load still moves while tapectl looks for it.
BLOCKS=4000
FAULTS=(cut full cancelled killed)
RUNS=$([[ -n ${TAPEDECK_LONG:-} ]] && echo 20 || echo 4)
WRITTEN=0 # blocks of all recordings, as tapectl shows them

jobs_sum() { tapectl_json jobs list | jq "[.jobs[] | $1] | add // 0"; }

cut() {
  start_job record large/c0 --source synth --blocks "$BLOCKS"
  cut_connections
  end_job
  is_whole "$ANSWER" "a recording over a rail that is cut"
}

full() {
  ANSWER=$(tapectl_json record small/c0 --source synth --duration 600s) && fail "a LUN of 64 MiB is not full: $ANSWER"
  expect_error_in "$ANSWER" RESOURCE_EXHAUSTED LUN_FULL
}

cancelled() {
  start_job record large/c0 --source synth --duration 600s
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
}

# The counters of its jobs are compared before they go with it.
killed() {
  worker_says_the_same
  start_job record large/c0 --source synth --duration 600s
  kill_service "$WORKER_PID"
  end_job
  start_worker
}

worker_says_the_same() {
  local counter
  expect "$(jobs_sum .blocks)" worker tapedeck_session_blocks_total
  expect "$(jobs_sum .bytes)" worker tapedeck_session_bytes_total
  for counter in crc_errors retransmitted_blocks duplicate_blocks; do
    expect "$(jobs_sum ".$counter")" worker "tapedeck_${counter}_total"
  done
  expect "$(jobs_sum 1)" worker tapedeck_jobs_ended_total
}

# take_recording: adds the newest one's blocks, once it is closed, and deletes it.
take_recording() {
  local name recording
  name=$(newest_recording)
  wait_for 30 is_closed "$name" || fail "$name is not closed"
  recording=$(tapectl_json recordings show "$name")
  WRITTEN=$((WRITTEN + $(jq '.blocks - .missing_blocks' <<<"$recording")))
  tapectl recordings delete "$name" >/dev/null
}

begin_test
with_admin_ports
lun_with_channel memory large/c0 cf32_le 256KiB
CAPACITY=64MiB lun_with_channel memory small/c0 cf32_le 256KiB
for ((run = 0; run < RUNS; run++)); do
  fault=${FAULTS[run % ${#FAULTS[@]}]}
  "$fault"
  take_recording
  expect "$WRITTEN" storage tapedeck_lun_written_blocks_total
  # What a session has got and its LUN has not taken is no block of a recording.
  (($(metric storage tapedeck_session_blocks_total 'direction="record"') >= WRITTEN)) || fail "sessions have moved less than is stored"
  expect $((run + 1)) storage tapedeck_sessions_opened_total
done
worker_says_the_same
echo "$RUNS runs with faults: $WRITTEN blocks; the pages say the same"
