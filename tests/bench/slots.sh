#!/usr/bin/env bash
# What libtapedeck costs a program with kernels on a GPU: recording to a node that drops what comes, over two TCP rails on loopback,
# by a loop in which the CPU waits for every block, by a stream, by a graph and by one kernel; the processor time of the proxy's two modes at 1,000
# blocks a second; and how long it is from a stream to the proxy and back.
#   tests/bench/slots.sh [--rounds N] [--seconds N] [--check]      --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 DURATION=3 CHECK=no
BOTH_RAILS=r0=tcp:127.0.0.1,r1=tcp:127.0.0.2
PROGRAM=$TAPEDECK_BIN/gpu_worker_stream_bench

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

start_null_node() {
  local port
  port=$(free_port)
  start_service "$WORK/null.log" "$port" "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "127.0.0.1:$port" \
    --rail r0=tcp:127.0.0.1 --rail r1=tcp:127.0.0.2
  NODE=127.0.0.1:$port
}

# way NAME WAY MODE [BLOCKS_PER_S]: the figures under that name.
way() {
  "$PROGRAM" "$2" "$3" "$NODE" "$BOTH_RAILS" "null/$BLOCK" "$DURATION" "${@:4}" 2>>"$WORK/program.log" |
    jq -c --arg name "$1" 'with_entries(.key = $name + "_" + .key)'
}

# waits_of WAY: the calls of the driver in which the CPU waits for the GPU, for each block..
waits_of() {
  "$PROGRAM" profile "$1" performance "$NODE" "$BOTH_RAILS" null/1048576 1 2>"$WORK/profile-$1.log" |
    jq -c --arg name "$1" '{($name + "_waits_per_block"): .waits_per_block}'
  grep "^$1 " "$WORK/profile-$1.log" | sed 's/^/calls for each block: /' >&2 || true
}

one_round() {
  {
    "$PROGRAM" latency
    BLOCK=1048576 way host host performance
    BLOCK=1048576 way stream stream performance
    BLOCK=1048576 way graph graph performance
    BLOCK=1048576 way kernel kernel performance
    waits_of host
    waits_of stream
    waits_of graph
    BLOCK=65536 way paced_performance stream performance 1000
    BLOCK=65536 way paced_economy stream economy 1000
    BLOCK=65536 way paced_host host performance 1000
  } | jq -cs 'add | . + {stream_to_host: (.stream_mb_per_s / .host_mb_per_s), graph_to_host: (.graph_mb_per_s / .host_mb_per_s),
    kernel_to_host: (.kernel_mb_per_s / .host_mb_per_s),
    economy_to_spinning_cpu: (.paced_economy_cores / .paced_performance_cores)}'
}

main() {
  local all
  need jq
  [[ -x $PROGRAM ]] || { echo "bench: $PROGRAM is missing: this build has no CUDA" >&2; exit 1; }
  services_begin
  trap services_end EXIT
  start_null_node
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "slots", device: "cuda:0", figures: with_entries(select(.key | test("_to_") | not)),
    ratios: with_entries(select(.key | test("_to_"))), $machine}' <<<"$all")" \
    'stream_to_host >= 1' 'graph_to_host >= 1' 'kernel_to_host >= 0.8' 'stream_waits_per_block <= 0.01' 'graph_waits_per_block <= 0.01' 'stream_proxy_stream_us <= 6' 'economy_to_spinning_cpu <= 0.5' 'paced_economy_proxy_cores <= 0.05'
}

main
