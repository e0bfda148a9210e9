#!/usr/bin/env bash
# What one worker records into another one's inlet, over two TCP rails on loopback, FFTs of 1024 points and CRC on, beside what it
# records to a node that drops what comes, with as many connections, in turn; and what it records there by peer copy. Both workers'
# device is the same.
#   tests/bench/workers.sh [--device D] [--connections N] [--rounds N] [--seconds N] [--check]      --check exits 1 below 0.8 of the node
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 DURATION=3 CHECK=no CONNECTIONS=2
WORKER_DEVICE=auto

while [[ $# -gt 0 ]]; do
  case $1 in
    --device) WORKER_DEVICE=$2 && shift 2 ;;
    --connections) CONNECTIONS=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# \?//p' "$0" && exit 2 ;;
  esac
done

# The receiver's rails are apart, so that each has ports of its own.
start_all() {
  local port
  port=$(free_port)
  start_service "$WORK/null.log" "$port" "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "127.0.0.1:$port" \
    --rail r0=tcp:127.0.0.1 --rail r1=tcp:127.0.0.2
  NULL_NODE=127.0.0.1:$port
  WORKER_RAILS=(--rail r0=tcp:127.0.0.1 --rail r1=tcp:127.0.0.2 --rail p0=ipc:127.0.0.1) WORKER_OPTIONS=(--connections-per-rail "$CONNECTIONS")
  start_worker
  SENDER=$TAPEDECK_WORKER
  WORKER_PORT='' WORKER_OPTIONS+=(--inlets on)
  start_worker
  RECEIVER=$TAPEDECK_WORKER
}

is_open() { TAPEDECK_WORKER=$RECEIVER tapectl_json jobs list | jq -e '.jobs[0] | .recording == "inlets/bench" and .state == "STARTING"' >/dev/null; }

# to_inlet RAILS BLOCKS, to_worker BLOCKS, to_peer BLOCKS, to_node BLOCKS: MB/s.
to_inlet() {
  local receiver
  TAPEDECK_WORKER=$RECEIVER tapectl_json receive bench --rails "$1" --sink null >"$WORK/received.json" &
  receiver=$!
  wait_for 10 is_open
  TAPEDECK_WORKER=$SENDER tapectl_json record --to "$RECEIVER/bench" --rails "$1" --source synth --fft 1024 --blocks "$2" | jq .mb_per_s
  wait "$receiver"
}
to_worker() { to_inlet r0,r1 "$1"; }
to_peer() { to_inlet p0 "$1"; }
to_node() {
  TAPEDECK_WORKER=$SENDER tapectl_json --storage "$NULL_NODE" record null/1048576 --source synth --fft 1024 --blocks "$1" | jq .mb_per_s
}

# for_duration COMMAND: its rate over about DURATION seconds, told by a shorter run.
for_duration() {
  local rate
  rate=$("$1" 2000) || return 1
  "$1" "$(jq -n "$rate * $DURATION * 1e6 / 1048576 | ceil")"
}

one_round() {
  local node worker peer
  node=$(for_duration to_node) || return 1
  worker=$(for_duration to_worker) || return 1
  peer=$(for_duration to_peer) || return 1
  jq -cn --argjson node "$node" --argjson worker "$worker" --argjson peer "$peer" \
    '{to_node_mb_per_s: $node, to_worker_mb_per_s: $worker, peer_copy_mb_per_s: $peer, worker_to_node: ($worker / $node),
      peer_copy_to_rails: ($peer / $worker)}'
}

main() {
  local all
  need jq
  services_begin
  trap services_end EXIT
  start_all
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s, $CONNECTIONS connections of each rail" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "workers", figures: {to_node_mb_per_s, to_worker_mb_per_s,
    peer_copy_mb_per_s}, ratios: {worker_to_node, peer_copy_to_rails}, $machine}' <<<"$all")" \
    'worker_to_node >= 0.8'
}

main
