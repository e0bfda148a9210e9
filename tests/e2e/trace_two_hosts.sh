#!/usr/bin/env bash
# Timelines of two machines of tests/lab, whose clocks are their own: every block's stamps come in causal order within the
# uncertainty that is stated; a worker whose clock is 3 s ahead gives the same picture, and in the long form what one
# clock is made to drift by is found.
set -Eeuo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lab/two_vms.sh"
BIN=${TAPEDECK_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/bin}
CHECK=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/trace_check.py
BLOCKS=24

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  tail -qn 20 "${NODE:-/dev/null}/stderr" "${WORKER:-/dev/null}/stderr" >&2 || true
  exit 1
}

# start_worker [COMMAND...]: on b, by that command.
start_worker() {
  start_on b "$@" "$BIN/tapedeck-worker" --insecure --listen 0.0.0.0:7501 --device host --rail r0=tcp:10.0.0.2 --rail r1=tcp:10.0.1.2
  WORKER=$JOB
  guest b await_listener tcp 7501
}

ctl() { on b "$BIN/tapectl" --output json --storage 10.9.0.1:7401 --worker 10.9.0.2:7501 "$@"; }

is_true() { if [[ -z $1 ]] || ! jq -e "$2" >/dev/null <<<"$1"; then fail "$3: not ($2) in $1"; fi; }

# traced LIMIT...: records that long; ANSWER is what tapectl says of the timeline.
traced() {
  RECORDED=$(ctl record l1/c0 --source synth "$@")
  ANSWER=$(ctl trace "$(ctl jobs list | jq -r '.jobs[0].name')" --to /tmp/run.pftrace --replace)
  is_true "$ANSWER" '.nodes | length == 2 and all(.[]; .clock_known)' "both clocks are known"
  echo "clock: $(jq -c '.nodes[1] | {clock_offset_ns, clock_uncertainty_ns, clock_drift_ppm, clock_drift_uncertainty_ppm}' <<<"$ANSWER")"
}

# in_order: the stamps of every block of it are there, in causal order.
in_order() {
  on b /usr/bin/python3 "$CHECK" /tmp/run.pftrace record "$(jq .blocks <<<"$RECORDED")" \
    "$(of_node clock_uncertainty_ns)" READ || fail "stamps out of order"
}

of_node() { jq ".nodes[1].$1" <<<"$ANSWER"; }

# drift PPM: of b's clock.
drift() {
  on b /usr/bin/python3 -c 'import ctypes, struct, sys
timex = ctypes.create_string_buffer(struct.pack("=Iiqq", 2, 0, 0, int(sys.argv[1]) * 65536), 208)
sys.exit(ctypes.CDLL(None).adjtimex(timex) < 0)' "$1" || fail "adjtimex"
}

begin_vms --timeout 1200 --memory 1536
start_on a "$BIN/tapedeck-storage" --insecure --listen 0.0.0.0:7401 --state /tmp/trace-state --rail r0=tcp:10.0.0.1 --rail r1=tcp:10.0.1.1
NODE=$JOB
guest a await_listener tcp 7401
start_worker
ctl lun create l1 --store memory --capacity 512MiB >/dev/null
ctl channel create l1/c0 --block-bytes 64KiB --datatype cf32_le --sample-rate 1e6 >/dev/null

traced --blocks "$BLOCKS"
in_order
began=$SECONDS plain=$ANSWER
stop_job "$WORKER"
end_of "$WORKER" || true
start_worker unshare --time --monotonic 3 --fork --kill-child
traced --blocks "$BLOCKS"
in_order
# Meanwhile the clocks may have drifted by 500 ppm.
is_true "$(jq -n --argjson plain "$plain" --argjson ahead "$ANSWER" '{$plain, $ahead}')" "
  (.ahead.nodes[1].clock_offset_ns - .plain.nodes[1].clock_offset_ns + 3000000000 | fabs)
  <= .ahead.nodes[1].clock_uncertainty_ns + .plain.nodes[1].clock_uncertainty_ns + $((SECONDS - began + 1)) * 500000" \
  "a clock 3 s ahead"

# The same drift of 100 ppm either way, for long enough to show beyond the uncertainty. All that there is in the rings of it
# may be the end.
found_drift() {
  local ppm drifts=() uncertain=()
  for ppm in 100 -100; do
    drift "$ppm"
    traced --duration 45s
    drifts+=("$(of_node clock_drift_ppm)")
    uncertain+=("$(of_node clock_drift_uncertainty_ppm)")
  done
  drift 0
  echo "drift of the storage node's clock with the worker's at +100 and -100 ppm: ${drifts[*]} ppm"
  is_true "${drifts[1]}" ". - (${drifts[0]}) | (. - 200 | fabs) <= ${uncertain[0]} + ${uncertain[1]} and . > 50" \
    "a drift of 200 ppm in all"
}

# It takes minutes where the machines are emulated.
[[ -z ${TAPEDECK_LONG:-} ]] || found_drift
stop_job "$WORKER"
stop_job "$NODE"
end_of "$WORKER" || true
end_of "$NODE" || true
