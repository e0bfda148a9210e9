#!/usr/bin/env bash
# What a process finds around itself: limits of file sizes, closed descriptors, a terminal that goes, variables for other programs.
# Each is the error of one job, a clean end, or a warning; none ends a service or spoils a file.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

runs() { kill -0 "$1" 2>/dev/null; }
is_gone() { ! runs "$1"; }

# A platform sets these for every program of a pod.
foreign_variables() {
  export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_TRACES_SAMPLER=jaeger_remote
  start_storage
  start_worker
  grep -q 'no traces.*OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf' "$WORK/storage.log" || fail "the storage node does not say why it traces nothing"
  grep -q 'OTEL_TRACES_SAMPLER=jaeger_remote' "$WORK/worker.log" || fail "the worker does not name the sampler"
  tapectl lun list >"$WORK/list.txt" 2>"$WORK/list.err" || fail "tapectl does not run: $(cat "$WORK/list.err")"
  grep -q 'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf' "$WORK/list.err" || fail "tapectl does not warn: $(cat "$WORK/list.err")"
  export OTEL_SDK_DISABLED=true
  tapectl lun list >"$WORK/list.txt" 2>"$WORK/list.err"
  [[ ! -s $WORK/list.err ]] || fail "tracing is off, and tapectl says: $(cat "$WORK/list.err")"
  unset OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_PROTOCOL OTEL_TRACES_SAMPLER OTEL_SDK_DISABLED
}

# An answer that a full disk has cut is not done.
full_output() {
  local status=0
  tapectl lun list >/dev/full 2>"$WORK/full.err" || status=$?
  ((status == 1)) || fail "lun list >/dev/full ends with $status"
  grep -q 'cannot write the whole answer' "$WORK/full.err" || fail "it does not say why: $(cat "$WORK/full.err")"
  status=0
  tapectl --help >/dev/full 2>/dev/null || status=$?
  ((status == 1)) || fail "--help >/dev/full ends with $status"
}

# A limit for files is an error of the job that meets it, at the node and at the worker.
file_size_limit() {
  local answer
  # The data file of a recording cannot become longer than the limit.
  prlimit --pid "$STORAGE_PID" --fsize=$((4 * MIB)):
  answer=$(tapectl_json record l0/c0 --source synth --blocks 64) && fail "64 MiB fit into 4 MiB: $answer"
  runs "$STORAGE_PID" || fail "the limit has ended the storage node"
  json_is "$answer" '.error.message | contains("File too large")' "the recording's error"
  prlimit --pid "$STORAGE_PID" --fsize=unlimited:
  is_whole "$(tapectl_json record l0/c0 --source synth --blocks 64)" "a recording without the limit"
  prlimit --pid "$WORKER_PID" --fsize=$((4 * MIB)):
  answer=$(tapectl_json play l0/c0/latest --sink "file:$WORK/played") && fail "64 MiB fit into a file of 4 MiB: $answer"
  runs "$WORKER_PID" || fail "the limit has ended the worker"
  json_is "$answer" '.error.message | contains("File too large")' "the playback's error"
  prlimit --pid "$WORKER_PID" --fsize=unlimited:
  answer=$( (ulimit -f 4096 && tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/export.bin") 2>"$WORK/export.err") &&
    fail "64 MiB fit into an export of 4 MiB: $answer"
  grep -q 'File too large' "$WORK/export.err" || fail "the export does not say why: $(cat "$WORK/export.err")"
}

# A terminal that goes ends the node as SIGTERM does: all that was acknowledged is there, and waited for its job to go on. Of two rails
# one may be ahead then.
hang_up() {
  start_job record l0/c0 --source synth --duration 60s
  kill -HUP "$STORAGE_PID"
  wait_for 15 is_gone "$STORAGE_PID" || fail "the storage node does not end at SIGHUP"
  end_job
  grep -q 'shutting down' "$WORK/storage.log" || fail "SIGHUP ended the storage node at once"
  start_storage
  json_is "$(tapectl_json recordings list l0/c0)" ".recordings[0].durable_watermark >= $(jq .blocks <<<"$ANSWER")" \
    "the recording at SIGHUP"
  kill -HUP "$WORKER_PID"
  wait_for 15 is_gone "$WORKER_PID" || fail "the worker does not end at SIGHUP"
  grep -q 'shutting down' "$WORK/worker.log" || fail "SIGHUP ended the worker at once"
}

# closed_descriptors: what would be logged goes nowhere, and not into a file that got the number of one.
closed_descriptors() {
  stop_service "$STORAGE_PID"
  start_service "$WORK/closed.log" "$STORAGE_PORT" bash -c 'exec "$@" <&- >&- 2>&-' closed "$TAPEDECK_BIN/tapedeck-storage" \
    --listen "$TAPEDECK_STORAGE" --state "$WORK/state" "${STORAGE_RAILS[@]}"
  STORAGE_PID=$SERVICE_PID
  local number
  for number in 0 1 2; do
    [[ $(readlink "/proc/$STORAGE_PID/fd/$number") == /dev/null ]] || fail "descriptor $number is $(readlink "/proc/$STORAGE_PID/fd/$number")"
  done
  start_worker
  is_whole "$(tapectl_json record l0/c0 --source synth --blocks 16)" "a recording beside closed descriptors"
  json_is "$(tapectl_json recordings verify l0/c0/latest)" '.damaged == []' "its blocks"
}

begin_test
foreign_variables
lun_with_channel posix l0/c0 cf32_le 1MiB
full_output
file_size_limit
hang_up
closed_descriptors
echo "limits of file sizes, full outputs, SIGHUP, closed descriptors and foreign variables end one job at most"
