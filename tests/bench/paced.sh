#!/usr/bin/env bash
# How evenly a paced playback goes: cf32_le at 100 MS/s and 1 GS/s to a sink that drops, from a storage node's memory LUN for as
# long as that lasts, and as a loop in the worker's memory.
#   tests/bench/paced.sh [--seconds S] [--lun-bytes B] [--check]      --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SECONDS_EACH=60 LUN_BYTES=4GiB CHECK=no
LOOP_SAMPLES=10000000

while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) SECONDS_EACH=$2 && shift 2 ;;
    --lun-bytes) LUN_BYTES=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,4s/^# //p' "$0" && exit 2 ;;
  esac
done

# timing_of NAME OPTION...: plays; adds what the job says to FIGURES, and prints it.
timing_of() {
  local answer
  answer=$(tapectl_json play "$RECORDING" --sink null "${@:2}") || {
    echo "bench: $1 failed: $answer" >&2
    exit 1
  }
  FIGURES=$(jq -c --arg name "$1" --argjson figures "$FIGURES" '.timing | $figures + {($name): {blocks, underruns,
    p50_us: (.jitter_p50_s * 1e6), p99_us: (.jitter_p99_s * 1e6), p999_us: (.jitter_p999_s * 1e6), most_us: (.worst_jitter_s * 1e6)}}' \
    <<<"$answer")
  jq -r --arg name "$1" '.[$name] | [$name, .blocks, .underruns, .p50_us, .p99_us, .p999_us, .most_us] | @tsv' <<<"$FIGURES" |
    awk -F'\t' '{printf "%-16s %10d %10d %10.1f %10.1f %10.1f %10.1f\n", $1, $2, $3, $4, $5, $6, $7}'
}

need jq
check_seconds "$SECONDS_EACH"
services_begin
trap services_end EXIT
# One connection of a rail is one thread at either end, and two of those play less than 8 GB/s.
WORKER_OPTIONS=(--connections-per-rail 2)
start_storage
start_worker
tapectl --timeout 120s lun create paced --store memory --capacity "$LUN_BYTES" >/dev/null
tapectl channel create paced/c0 --datatype cf32_le --block-bytes 1MiB --sample-rate 1e8 >/dev/null
blocks=$(tapectl_json lun list | jq '.luns[0].capacity_bytes / 1048576 | floor')
RECORDING=$(tapectl_json record paced/c0 --source synth --blocks "$blocks" | jq -r .recording)
FIGURES='{}'
printf '%-16s %10s %10s %10s %10s %10s %10s\n' "jitter (us)" blocks underruns p50 p99 p99.9 most
for rate in 1 10; do
  name=$((rate * 100))_msps
  timing_of "node_$name" --rate "$rate"
  timing_of "loop_$name" --rate "$rate" --loop --to-sample "$LOOP_SAMPLES" --loop-count $((rate * 100000000 * SECONDS_EACH / LOOP_SAMPLES))
done
promises=()
for name in node_100_msps loop_100_msps node_1000_msps loop_1000_msps; do
  promises+=("$name.underruns <= 0" "$name.p99_us <= 50" "$name.p999_us <= 200")
done
conclude "$(jq -c --argjson machine "$(machine)" '{bench: "paced", figures: ., ratios: {}, peers: {}, $machine}' <<<"$FIGURES")" \
  "${promises[@]}"
