#!/usr/bin/env bash
# How fast a store on Ceph writes and reads blocks, with CRC32C, index and manifest, beside `rados bench` with operations and
# objects of the same size, in turn, so many under way, and about as many bytes, since a recording is also begun and closed. Our
# ring has twice as many slots, as a block also waits for its index entry. CPU seconds per GB of each client. The cluster is of
# three OSDs on this machine (tests/lab/rados.sh), or --conf names the ceph.conf of one with a pool "tape".
#   tests/bench/rados.sh [--conf FILE] [--directory DIR] [--rounds N] [--blocks N] [--depth N] [--seconds N] [--check]
# --check exits 1 below 0.9 of rados bench, writing or reading.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 BLOCKS=2560 DEPTH=16 DURATION=8 CHECK=no DIRECTORY='' CONF=''
BLOCK_BYTES=$((1 << 20)) OBJECT_BYTES=$((16 << 20))
CLUSTER=$TAPEDECK_ROOT/tests/lab/rados.sh

while [[ $# -gt 0 ]]; do
  case $1 in
    --conf) CONF=$2 && shift 2 ;;
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --depth) DEPTH=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,/^source/{/^source/!s/^# //p}' "$0" && exit 2 ;;
  esac
done

rados_() { rados --conf "$CONF" -p tape -N bench-peer "$@"; }

# peer write|seq: {rate, cpu} of rados bench: MB/s and CPU seconds per GB of its client.
peer() {
  local options=()
  [[ $1 == seq ]] || options=(--no-cleanup -b "$BLOCK_BYTES" -O "$OBJECT_BYTES")
  TIMEFORMAT='%U %S'
  { time rados_ bench "$DURATION" "$1" -t "$DEPTH" --run-name peer "${options[@]}" >"$WORK/peer.out" 2>&1; } 2>"$WORK/cpu"
  awk -v cpu="$(awk '{print $1 + $2}' "$WORK/cpu")" -v bytes="$BLOCK_BYTES" '
    /^Bandwidth \(MB\/sec\):/ {rate = $3 * 1.048576}
    /^Total (writes|reads) made:/ {gb = $4 * bytes / 1e9}
    END {printf "{\"rate\": %s, \"cpu\": %s}\n", rate, cpu / gb}' "$WORK/peer.out"
}

tapedeck() {
  tapedeck_bench store --store rados --member rados:tape/bench --ceph-conf "$CONF" --block-bytes "$BLOCK_BYTES" \
    --blocks "$BLOCKS" --slots $((2 * DEPTH)) --commit durable
}

# one_round: one line of JSON.
one_round() {
  local write read ours
  write=$(peer write)
  read=$(peer seq)
  rados_ cleanup --run-name peer >"$WORK/cleanup.log" 2>&1
  ours=$(tapedeck)
  jq -cn --argjson write "$write" --argjson read "$read" --argjson ours "$ours" '
    {rados_bench_write_mb_per_s: $write.rate, rados_bench_read_mb_per_s: $read.rate,
     rados_bench_write_cpu_s_per_gb: $write.cpu, rados_bench_read_cpu_s_per_gb: $read.cpu} + $ours
    + {write_to_rados_bench: ($ours.write_mb_per_s / $write.rate), read_to_rados_bench: ($ours.read_mb_per_s / $read.rate)}'
}

# shellcheck disable=SC2317
end_bench() {
  "$CLUSTER" stop "$DIRECTORY/cluster" >/dev/null || true
  rm -rf "$DIRECTORY"
  services_end
}

begin_cluster() {
  RADOS_PORT=$(free_port)
  export RADOS_PORT
  trap end_bench EXIT
  "$CLUSTER" start "$DIRECTORY/cluster"
  CONF=$DIRECTORY/cluster/ceph.conf
}

main() {
  local all
  need jq
  need rados
  begin_in_folder
  [[ -n $CONF ]] || begin_cluster
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $BLOCKS blocks" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "rados",
    figures: with_entries(select(.key | test("rados_bench") | not)), ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^rados_bench"))), $machine}' <<<"$all")" \
    'write_to_rados_bench >= 0.9' 'read_to_rados_bench >= 0.9'
}

main
