#!/usr/bin/env bash
# A record is one trace over tapectl, worker and storage node, as OpenTelemetry's own decoder reads it; a worker that is killed
# leaves no span of the storage node open; and a collector that is away or mute holds nothing up.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"

OTLP=$(dirname "${BASH_SOURCE[0]}")/otlp
TRACE=0af7651916cd43dd8448eb211c80319c
ABOVE=b7ad6b7169203331

# start_collector [mute]: what it takes goes to SPANS.
start_collector() {
  SPANS=$WORK/spans.jsonl
  : >"$SPANS"
  start_service "$WORK/collector.log" "$COLLECTOR_PORT" node "$OTLP/collector.js" "$COLLECTOR_PORT" "$SPANS" "$@"
  COLLECTOR_PID=$SERVICE_PID
}

# spans FILTER: true of the array of the spans of TRACE.
spans() { jq -es --arg trace "$TRACE" --arg above "$ABOVE" "map(select(.trace == \$trace)) | $1" "$SPANS"; }

# spans_become FILTER WHAT: they are exported in batches, every 5 s.
spans_become() { wait_for 20 spans "$1" || fail "$2: not ($1) in $(jq -c '[.service, .name, .trace, .span, .parent, .error]' "$SPANS")"; }

has() { echo "any(.[]; .service == \"$1\" and .name == \"$2\")"; }

# child_of CHILD_SERVICE CHILD PARENT_SERVICE PARENT: jq's filter for it.
child_of() {
  echo "(INDEX(.span)) as \$by | any(.[]; .service == \"$1\" and .name == \"$2\" and
    \$by[.parent].service == \"$3\" and \$by[.parent].name == \"$4\")"
}

RPC=tapedeck.v1

is_one_trace() {
  local step
  spans_become "$(has tapectl 'tapectl record')" "the command's span"
  for step in open admit register connect "first block" drain seal; do
    spans_become "$(has tapedeck-storage "$step")" "the storage node's $step"
  done
  for step in open register connect "first block" drain seal job; do
    spans_become "$(has tapedeck-worker "$step")" "the worker's $step"
  done
  spans_become "map(select(.parent == \$above) | .name) == [\"tapectl record\"]" "the trace begins with the command alone"
  spans_become "(map(.span) + [\$above]) as \$all | all(.[]; [.parent] - \$all == [])" "no parent is missing, so none was left open"
  spans_become "map(.service) | unique == [\"tapectl\", \"tapedeck-storage\", \"tapedeck-worker\"]" "three programs"
  spans_become "all(.[]; .error | not)" "nothing failed"
  spans_become "all(.[]; .end >= .start)" "nothing ends before it begins"
  spans_become "$(child_of tapectl $RPC.PipelineService/StartRecord tapectl 'tapectl record')" "the call"
  spans_become "$(child_of tapedeck-worker $RPC.PipelineService/StartRecord tapectl $RPC.PipelineService/StartRecord)" "its other end"
  spans_become "$(child_of tapedeck-worker job tapedeck-worker $RPC.PipelineService/StartRecord)" "the job"
  spans_become "$(child_of tapedeck-worker session tapedeck-worker job)" "the worker's session"
  spans_become "$(child_of tapedeck-storage session tapedeck-worker session)" "the storage node's session"
  spans_become "$(child_of tapedeck-storage seal tapedeck-storage session)" "the seal"
  spans_become "$(child_of tapedeck-storage $RPC.SessionService/Transfer tapedeck-worker $RPC.SessionService/Transfer)" "the stream"
  spans_become "any(.[]; .kind == \"SPAN_KIND_SERVER\" and .attributes == {\"rpc.system.name\": \"grpc\",
    \"rpc.method\": \"$RPC.PipelineService/StartRecord\", \"rpc.response.status_code\": \"OK\"})" "what is told of a call"
  spans_become "any(.[]; .name == \"session\" and ([.events[].name] | index(\"rail up\")))" "rails as events"
  spans_become "all(.[]; .state == \"vendor=1\" and .resource.site == \"north pole\")" "state and resource"
  spans_become "length < 60" "spans are few, however many blocks"
  grep -q "msg=finished .*trace_id=$TRACE span_id=" "$WORK/storage.log" || fail "the storage node's log does not name the trace"
  grep -q "component=job msg=complete .*trace_id=$TRACE span_id=" "$WORK/worker.log" || fail "the worker's log does not name the trace"
}

survives_a_killed_worker() {
  local recording
  TRACE=11111111111111111111111111111111
  TRACEPARENT=00-$TRACE-$ABOVE-01 start_job record l0/c0 --source synth --duration 60s
  recording=$(newest_recording)
  kill_service "$WORKER_PID"
  wait_for 10 is_closed "$recording" || fail "the recording of a dead worker is not closed"
  end_job
  spans_become "any(.[]; .service == \"tapedeck-storage\" and .name == \"session\" and .error)" "the session has ended, as an error"
  spans_become "any(.[]; .service == \"tapedeck-storage\" and .name == \"$RPC.SessionService/Transfer\" and .error)" "and its stream"
  spans_become "any(.[]; .service == \"tapedeck-storage\" and .name == \"seal\")" "and the seal"
  spans_become "any(.[]; .service == \"tapectl\" and .name == \"tapectl record\" and .error)" "and the command"
  spans_become "map(select(.service == \"tapedeck-storage\")) | map(.span) as \$all |
    map(select(.name == \"seal\" or .name == \"connect\")) | all(.[]; [.parent] - \$all == [])" "none of the storage node's was left open"
  start_worker
}

# holds_nothing_up WHAT: with a collector that takes nothing.
holds_nothing_up() {
  local before after began
  before=$(metric storage tapedeck_trace_spans_dropped_total)
  began=$(milliseconds)
  tapectl nodes >/dev/null
  after=$(milliseconds)
  ((after - began < $(slow 4000))) || fail "a command took $((after - began)) ms with $1"
  is_whole "$(tapectl_json record l0/c0 --source synth --blocks 400)" "a recording with $1"
  wait_for 30 more_are_dropped "$before" || fail "nothing is counted as dropped with $1"
  grep -q 'component=trace msg="spans dropped"' "$WORK/storage.log" || fail "the log does not tell of drops with $1"
  stop_service "$WORKER_PID"
  ! grep -q "ended without waiting" "$WORK/worker.log" || fail "the worker's end was held up with $1"
  start_worker
}

more_are_dropped() { (($(metric storage tapedeck_trace_spans_dropped_total) > $1)); }

begin_test
with_packages "$OTLP" "OpenTelemetry's packages"
COLLECTOR_PORT=$(free_port)
start_collector
export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$COLLECTOR_PORT OTEL_RESOURCE_ATTRIBUTES=site=north%20pole
with_admin_ports
CAPACITY=$(scaled 4096 1024)MiB lun_with_channel posix l0/c0 cf32_le 256KiB
is_whole "$(TRACEPARENT=00-$TRACE-$ABOVE-01 TRACESTATE=vendor=1 tapectl_json record l0/c0 --source synth --blocks 1000)" "recording"
is_one_trace
survives_a_killed_worker
stop_service "$COLLECTOR_PID"
holds_nothing_up "the collector away"
start_collector mute
holds_nothing_up "a mute collector"
