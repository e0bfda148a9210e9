#!/usr/bin/env bash
# How jobs end and how far they say they are: progress by time, a clean stop of live sources, a sender that falls silent, what
# bounded a recording that kept up, a playback's end without a warning, and the list of jobs after a restart of the worker.
# Arguments: which of these; none: all.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

# begin_sender EMULATOR_OPTION...: to PORT; SENDER is its process.
begin_sender() {
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate 2MB --packet-bytes 1440 "$@" >/dev/null 2>&1 &
  SENDER=$!
}

has_samples() { job '.blocks > 0' -e; }

listed_share() { tapectl jobs list | awk 'NR == 2 {print $3}'; }

interrupt_job() { kill -INT "$(pgrep -P "$JOB_PID" tapectl)"; }

# begin_stream SOURCE_OPTIONS: a live recording of a sender that goes on until SENDER is killed.
begin_stream() {
  begin_ingest "udp=127.0.0.1:0,timeout=$(slow 10)$1"
  begin_sender --duration 1h
  wait_for 15 has_samples || fail "no samples came"
}

# ended_well WHAT CODE [CONDITION]: with status 0, SUCCEEDED, sealed, and a note of which that holds, in jq.
ended_well() {
  ((JOB_STATUS == 0)) || fail "$1 ends with status $JOB_STATUS: $ANSWER"
  json_is "$ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "$1"
  json_is "$ANSWER" "any(.notes[]; .code == \"$2\" and (${3:-true}))" "$1 has no note"
  json_is "$(tapectl_json recordings show "$(jq -r .recording <<<"$ANSWER")")" '.state == "SEALED" and .bytes > 0' "$1"
}

# A duration is its time, from the first sample on; a stream without an end has no progress.
scenario_progress() {
  RECORD_OPTIONS=(--duration 300s)
  begin_stream ""
  wait_for 15 job '.progress > 0.01' -e || fail "no progress by time: $(job)"
  json_is "$(job)" '.progress < 0.5 and .total_blocks == null' "progress of a duration"
  [[ $(listed_share) =~ ^[0-9]+%$ ]] || fail "the list has no share: $(tapectl jobs list)"
  tapectl jobs stop "$(job .name)" >/dev/null
  end_ingest
  kill "$SENDER"
  ended_well "a duration that is stopped" STOPPED
  RECORD_OPTIONS=()
  begin_stream ""
  json_is "$(job)" '.progress == null and .total_blocks == null' "progress of a stream without an end"
  [[ $(listed_share) == - ]] || fail "the list has a share: $(tapectl jobs list)"
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_ingest
  kill "$SENDER"
  json_is "$ANSWER" '.state == "CANCELLED" and .progress == null' "a cancelled stream"
  ANSWER=$(tapectl_json record l0/c0 --source synth --blocks 20)
  json_is "$ANSWER" '.progress == 1 and .total_blocks == 20' "progress at the end"
}

# Ctrl-C ends a live source well, with all samples that had come; twice cancels. Of a file it cancels.
scenario_stop() {
  begin_stream ""
  interrupt_job
  end_ingest
  kill "$SENDER"
  ended_well "Ctrl-C" STOPPED
  json_is "$ANSWER" '[.notes[] | select(.code == "INGEST_COUNTS").samples | tonumber * 8] == [.bytes]' "all samples that had come"

  start_job record l0/c0 --source synth --duration 1h
  kill -STOP "$STORAGE_PID" # so that it cannot end
  interrupt_job
  wait_for 10 grep -q 'stopping jobs/' "$WORK/job.log" || fail "it does not stop"
  interrupt_job
  wait_for 10 grep -q 'cancelling jobs/' "$WORK/job.log" || fail "a second Ctrl-C does not cancel"
  sleep 1 # the call follows the words, and nothing shows its end while the storage node hangs
  kill -CONT "$STORAGE_PID"
  end_job
  ((JOB_STATUS == 1)) || fail "a second Ctrl-C ends with $JOB_STATUS: $ANSWER"
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED

  truncate -s 1G "$WORK/zeros.bin"
  start_job record l0/c0 --source "file:$WORK/zeros.bin"
  json_is "$(job)" '.total_blocks == 16384 and .progress < 1' "progress of a file"
  ANSWER=$(tapectl_json jobs stop "$(job .name)" 2>&1) && fail "a file was stopped: $ANSWER"
  expect_error_in "$ANSWER" FAILED_PRECONDITION JOB_NOT_LIVE
  interrupt_job
  end_job
  ((JOB_STATUS == 1)) || fail "Ctrl-C of a file ends with $JOB_STATUS: $ANSWER"
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
}

# A sender that falls silent ends the job well, unless that is asked to be an error; one that never sent is an error.
scenario_silence() {
  local silence
  silence=$(slow 6) # in which the sender is started
  begin_ingest "udp=127.0.0.1:0,timeout=$silence"
  begin_sender --duration 1h
  wait_for 15 has_samples || fail "no samples came"
  kill -KILL "$SENDER"
  end_ingest
  ended_well "a silence" INGEST_ENDED '.cause == "SILENCE" and .timeout_s == "'"$silence"'"'

  begin_ingest "udp=127.0.0.1:0,timeout=$(slow 6),silence=error"
  begin_sender --duration 1h
  wait_for 15 has_samples || fail "no samples came"
  kill -KILL "$SENDER"
  end_ingest
  ((JOB_STATUS == 124)) || fail "silence=error ends with $JOB_STATUS: $ANSWER"
  expect_error_in "$ANSWER" DEADLINE_EXCEEDED SOURCE_SILENT

  ANSWER=$(tapectl_json record l0/c0 --source ingest:udp=127.0.0.1:0,timeout=0.2) && fail "nothing was recorded well: $ANSWER"
  expect_error_in "$ANSWER" DEADLINE_EXCEEDED SOURCE_SILENT
}

scenario_explain() {
  begin_ingest udp=127.0.0.1:0
  begin_sender --duration 1500ms
  end_ingest
  json_is "$(tapectl_json explain "$(jq -r .name <<<"$ANSWER")")" '.limited_by == "nothing"' "a stream that kept up"
  [[ $(tapectl explain "$(jq -r .recording <<<"$ANSWER")") == *"kept up with its source"* ]] || fail "explain of a recording"
  ANSWER=$(tapectl_json record l0/c0 --source synth --blocks 2)
  json_is "$(tapectl_json explain "$(jq -r .name <<<"$ANSWER")")" '.limited_by == "unknown" or .elapsed_s > 0.1' "two blocks, which take no time"
}

# Also of a playback that its sink or its user ends.
scenario_playback() {
  local recording before
  recording=$(tapectl_json record l0/c0 --source synth --blocks 2000 | jq -r .recording)
  sleep 2.5
  before=$(grep -c 'rail down' "$WORK/storage.log") || true # of recordings that failed
  for _ in {1..5}; do
    tapectl play "$recording" --sink null >/dev/null
    tapectl play "$recording" --sink null --to-sample 20000 >/dev/null
  done
  sleep 2.5 # a link that is down for longer would be told
  (($(grep -c 'rail down' "$WORK/storage.log") == before)) || fail "the end of a playback is a warning"
}

# kill -9 as well: numbers are left out then, none comes again.
scenario_restart() {
  local before after
  tapectl record l0/c0 --source synth --blocks 2 >/dev/null
  tapectl record l0/c0 --source synth --blocks 3 >/dev/null
  before=$(tapectl_json jobs list | jq -c '[.jobs[] | {name, state, blocks, recording, notes}]')
  stop_service "$WORKER_PID"
  start_worker
  after=$(tapectl_json jobs list | jq -c '[.jobs[] | {name, state, blocks, recording, notes}]')
  [[ $before == "$after" ]] || fail "other jobs after a restart: $after, not $before"
  [[ $(tapectl_json jobs cancel "$(job .name)" | jq -r .state) == SUCCEEDED ]] || fail "a job of before"
  tapectl record l0/c0 --source synth --blocks 2 >/dev/null
  json_is "$(tapectl_json jobs list)" '[.jobs[].name] == ([.jobs[].name] | unique_by(ltrimstr("jobs/") | tonumber) | reverse)' "numbers"

  start_job record l0/c0 --source synth --duration 1h
  before=$(job .name)
  kill_service "$WORKER_PID"
  end_job
  start_worker
  json_is "$(job)" '.state == "FAILED" and .name == "'"$before"'" and .end_time == null' "a job that the worker's end broke off"
  tapectl record l0/c0 --source synth --blocks 2 >/dev/null
  (($(job '.name[5:] | tonumber') > ${before#jobs/})) || fail "a number comes again: $(job .name) after $before"

  stop_service "$WORKER_PID"
  echo rubbish >"$WORK/worker-state/jobs"
  start_worker
  grep -q rubbish "$WORK"/worker-state/jobs.unreadable-* || fail "the unreadable list was not kept"
  grep -q 'cannot read.*kept as' "$WORK/worker.log" || fail "the log does not name it"
  tapectl record l0/c0 --source synth --blocks 2 >/dev/null
  (($(job '.name[5:] | tonumber') > 1000000000)) || fail "numbers begin anew: $(job .name)"
}

begin_test
WORKER_OPTIONS=(--state "$WORK/worker-state")
start_storage
start_worker
CAPACITY=4GiB lun_with_channel posix l0/c0 cf32_le 64KiB
scenarios=("$@")
(($# > 0)) || scenarios=(progress stop silence explain playback restart)
for scenario in "${scenarios[@]}"; do
  "scenario_$scenario"
  echo "$scenario: as it should be"
done
