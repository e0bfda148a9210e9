#!/usr/bin/env bash
# What a GPU worker moves over TCP rails on loopback, FFTs of 1024 points and CRC on, through the programs: between its device and a
# node that drops what comes, and between its device and a memory LUN; over one rail and two, by connections of a rail, by block size
# and by op. Beside it plain streams, plain copies, plain cuFFT and iperf3. Without a GPU the device is the host, as is said.
#   tests/bench/gpu.sh [--device D] [--rounds N] [--seconds N] [--lun-bytes B] [--check]      --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 DURATION=4 LUN_BYTES=$((4 << 30)) CHECK=no PAIRS=5
WORKER_DEVICE=auto
CONNECTIONS=(1 2 4)
WORKERS=() WORKER_PIDS=()
ADDRESSES=(127.0.0.1 127.0.0.2)
BLOCK_SIZES=(64KiB 1MiB 2MiB 8MiB)
NULL_NODE=

while [[ $# -gt 0 ]]; do
  case $1 in
    --device) WORKER_DEVICE=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --lun-bytes) LUN_BYTES=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# checked ARGUMENT...: as tapectl_json; a failure says what was asked.
checked() {
  local answer
  answer=$(tapectl_json "$@") || {
    echo "bench: tapectl $* failed: $answer" >&2
    return 1
  }
  echo "$answer"
}

# work_with CONNECTIONS: by the worker that has so many of each rail.
work_with() { export TAPEDECK_WORKER=${WORKERS[$1]}; }

in_bytes() { numfmt --from=iec-i "${1%B}"; }

# one_way NAME JSON...: {"NAME": MB/s} of jobs one after the other.
one_way() {
  printf '%s\n' "${@:2}" | jq -cs --arg name "$1" '{($name): ((map(.bytes) | add) / (map(.bytes / .mb_per_s) | add))}'
}

# both_ways NAME RAILS BLOCK_BYTES: the LUN is filled and played, again and again, for DURATION seconds. In JSON.
both_ways() {
  local blocks end recorded=() played=() name
  blocks=$((LUN_BYTES / $(in_bytes "$3")))
  end=$(($(milliseconds) + DURATION * 1000))
  until ((${#played[@]} > 0 && $(milliseconds) > end)); do
    recorded+=("$(checked record "gpu/$3" --source synth --fft 1024 --blocks "$blocks" --rails "$2")") || return 1
    name=$(jq -r .recording <<<"${recorded[-1]}")
    played+=("$(checked play "$name" --sink null --rails "$2")") || return 1
    tapectl recordings delete "$name" >/dev/null
  done
  one_way "$1_record_mb_per_s" "${recorded[@]}"
  one_way "$1_play_mb_per_s" "${played[@]}"
}

# for_duration COMMAND...: MB/s of a job of "$BLOCKS" blocks of 1 MiB that takes about DURATION seconds; the command has the word BLOCKS
# where their number goes.
for_duration() {
  local blocks=2000 answer
  for _ in 1 2; do
    answer=$(checked "${@//BLOCKS/$blocks}") || return 1
    blocks=$(jq ".mb_per_s * $DURATION * 1e6 / 1048576 | ceil" <<<"$answer")
  done
  jq .mb_per_s <<<"$answer"
}

# dropped OPTION...: MB/s of what is recorded to the node that drops it.
dropped() {
  for_duration --storage "$NULL_NODE" record null/1048576 --source synth --blocks BLOCKS "$@"
}

# drops NAME RAILS: recording to that node, and playing from it what lies in its ring. In JSON.
drops() {
  local record play
  record=$(dropped --fft 1024 --rails "$2") || return 1
  play=$(for_duration --storage "$NULL_NODE" play null/1048576/BLOCKS --sink null --rails "$2") || return 1
  jq -cn --arg name "$1" --argjson record "$record" --argjson play "$play" \
    '{($name + "_drop_record_mb_per_s"): $record, ($name + "_drop_play_mb_per_s"): $play}'
}

# rails_alone CONNECTIONS CRC: MB/s of sessions between host memory and nothing, for about DURATION seconds.
rails_alone() {
  local rate blocks=2000
  for _ in 1 2; do
    rate=$(tapedeck_bench rails --rails "$(IFS=, && echo "${ADDRESSES[*]}")" --connections-per-rail "$1" --crc "$2" --blocks "$blocks") ||
      return 1
    rate=$(jq .mb_per_s <<<"$rate")
    blocks=$(jq -n "$rate * $DURATION * 1e6 / 1048576 | ceil")
  done
  echo "$rate"
}

# bare CONNECTIONS OPTION...: MB/s of two threads for each connection that send and receive, with CRC.
bare() {
  tapedeck_bench bare --rails "$(IFS=, && echo "${ADDRESSES[*]}")" --connections-per-rail "$1" --seconds "$DURATION" "${@:2}" |
    jq .mb_per_s
}

# without: what FFT and CRC take of the network's rate at most connections: medians of pairs with and without, since what else the
# machine's host does moves each of them by more.
without() {
  work_with "${CONNECTIONS[-1]}"
  for _ in $(seq "$PAIRS"); do
    jq -cn --argjson fft "$(dropped --fft 1024)" --argjson none "$(dropped)" \
      --argjson crc "$(rails_alone "${CONNECTIONS[-1]}" once)" --argjson bare "$(rails_alone "${CONNECTIONS[-1]}" off)" \
      '{fft_to_none: ($fft / $none), crc_to_none: ($crc / $bare)}'
  done | jq -cs 'def median: sort | .[length / 2 | floor]; {fft_to_none: (map(.fft_to_none) | median), crc_to_none: (map(.crc_to_none) | median)}'
}

# by_op: the ops, over two rails of one connection. In JSON.
by_op() {
  local op
  work_with 1
  for op in READ WRITE SEND; do
    jq -cn --arg name "x1_two_${op,,}_record_mb_per_s" --argjson rate "$(dropped --fft 1024 --op "$op")" '{($name): $rate}'
  done
}

# pipelines: the record pipeline alone, through host memory and, where the device has its own, into a ring there; and the device
# without us.
pipelines() {
  local blocks=$((DURATION * 2000))
  [[ $DEVICE != host ]] || blocks=$((DURATION * 250))
  "$TAPEDECK_BIN/gpu_worker_pipeline_bench" "$DEVICE" "$blocks" 2>/dev/null | tail -n 1 |
    jq -c '.mb_per_s | {pipeline_mb_per_s: .["record synth fft"], pipeline_without_fft_mb_per_s: .["record synth"],
      verify_fft_mb_per_s: .["verify fft"]} +
      if has("plain cufft") then {pipeline_direct_mb_per_s: .["record synth fft, direct"], crc_kernel_mb_per_s: .crc32c,
        plain_copies_out_mb_per_s: .["plain copies out"], plain_copies_in_mb_per_s: .["plain copies in"],
        stage_fft_mb_per_s: .["stage fft"], plain_cufft_mb_per_s: .["plain cufft"],
        stage_fft_to_cufft: (.["stage fft"] / .["plain cufft"])} else {} end'
}

# peers: two streams of iperf3, and plain streams between memory that a cache holds, from as much as none holds, and between such.
peers() {
  local cold=(--from-bytes "$LUN_BYTES") both=(--from-bytes "$LUN_BYTES" --into-bytes "$LUN_BYTES")
  iperf3_on "${ADDRESSES[@]}"
  jq -cs --argjson one "$(bare 1)" --argjson one_cold "$(bare 1 "${cold[@]}")" --argjson one_both "$(bare 1 "${both[@]}")" \
    --argjson four "$(bare 4)" --argjson four_cold "$(bare 4 "${cold[@]}")" --argjson four_both "$(bare 4 "${both[@]}")" '{
    iperf3_mb_per_s: ([.[].end.sum_received.bits_per_second] | add / 8e6),
    bare_x1_mb_per_s: $one, bare_x1_from_memory_mb_per_s: $one_cold, bare_x1_between_memory_mb_per_s: $one_both,
    bare_x4_mb_per_s: $four, bare_x4_from_memory_mb_per_s: $four_cold, bare_x4_between_memory_mb_per_s: $four_both}' \
    "$WORK"/iperf3-*.json
}

# gpu_to_gpu BLOCK_BYTES: from the device through the node to the device: a recording that is played while it is made.
gpu_to_gpu() {
  local recording played name
  work_with "${CONNECTIONS[-1]}"
  checked record "gpu/$1" --source synth --fft 1024 --blocks "$((LUN_BYTES / $(in_bytes "$1")))" >"$WORK/recorded.json" &
  recording=$!
  wait_for 5 records "gpu/$1"
  played=$(checked play "gpu/$1/latest" --sink null --follow) || return 1
  wait "$recording" || return 1
  name=$(jq -r .recording "$WORK/recorded.json")
  tapectl recordings delete "$name" >/dev/null
  one_way "gpu_gpu_$1_mb_per_s" "$played"
}

records() { [[ $(tapectl_json recordings list "$1" | jq '[.recordings[]? | select(.state == "RECORDING")] | length') != 0 ]]; }

# cpu_to_cpu BLOCK_BYTES: memory of the host at both ends.
cpu_to_cpu() {
  tapedeck_bench transfer --seconds "$DURATION" --lun-bytes "$LUN_BYTES" --block-bytes "$1" --slots 16 \
    --connections-per-rail "${CONNECTIONS[-1]}" |
    jq -c --arg name "cpu_cpu_$1" '{($name + "_record_mb_per_s"): .record_mb_per_s, ($name + "_play_mb_per_s"): .play_mb_per_s}'
}

# by_block_size: between device and LUN at most connections, and at one what small blocks lose.
by_block_size() {
  work_with 1
  both_ways blocks_64KiB r0,r1 64KiB
  work_with "${CONNECTIONS[-1]}"
  for size in 2MiB 8MiB; do
    both_ways "gpu_cpu_$size" r0,r1 "$size"
    gpu_to_gpu "$size"
    cpu_to_cpu "$size"
  done
}

# by_connections: to the node that drops, and to the LUN.
by_connections() {
  local connections
  for connections in "${CONNECTIONS[@]}"; do
    work_with "$connections"
    drops "x${connections}_one" r0
    drops "x${connections}_two" r0,r1
    both_ways "x${connections}_one" r0 1MiB
    both_ways "x${connections}_two" r0,r1 1MiB
  done
}

# one_round: one line of JSON with every figure and the ratios of this round.
one_round() {
  {
    peers
    pipelines
    by_connections
    by_op
    by_block_size
    without
  } >"$WORK/round.json" || return 1
  jq -cs 'add | . + {x1_drop_to_iperf3: (.x1_two_drop_record_mb_per_s / .iperf3_mb_per_s),
    x4_drop_to_bare: (.x4_two_drop_record_mb_per_s / .bare_x4_mb_per_s),
    x2_to_x1: (.x2_two_drop_record_mb_per_s / .x1_two_drop_record_mb_per_s),
    x4_to_x2: (.x4_two_drop_record_mb_per_s / .x2_two_drop_record_mb_per_s),
    worst_to_best_op: ([.x1_two_read_record_mb_per_s, .x1_two_write_record_mb_per_s, .x1_two_send_record_mb_per_s] | min / max),
    small_to_large_record: (.blocks_64KiB_record_mb_per_s / .x1_two_record_mb_per_s),
    small_to_large_play: (.blocks_64KiB_play_mb_per_s / .x1_two_play_mb_per_s)}' "$WORK/round.json"
}

# core_seconds_of DIRECTION COMMAND...: those of both nodes' threads for each GB that the command moves. In JSON.
core_seconds_of() {
  local answer watcher
  rm -f "$WORK/bytes"
  "$TAPEDECK_ROOT/tests/bench/thread_times.py" "$WORK/bytes" "${WORKER_PIDS[1]}" "$STORAGE_PID" >"$WORK/threads.json" &
  watcher=$!
  wait_for 5 test -e "$WORK/bytes"
  answer=$(checked "${@:2}") || {
    kill -KILL "$watcher"
    return 1
  }
  jq .bytes <<<"$answer" >"$WORK/bytes"
  kill -TERM "$watcher"
  wait "$watcher"
  NAME=$(jq -r .recording <<<"$answer")
  jq -c --arg name "$1_core_s_per_gb" '{($name): .}' "$WORK/threads.json"
}

# core_seconds: recording and playing over two rails, with one connection each.
core_seconds() {
  work_with 1
  core_seconds_of record record gpu/1MiB --source synth --fft 1024 --blocks "$((LUN_BYTES >> 20))"
  core_seconds_of play play "$NAME" --sink null
}

# start_workers: sets WORKERS, the address of each by its connections of a rail, and WORKER_PIDS.
start_workers() {
  local connections
  for connections in "${CONNECTIONS[@]}"; do
    WORKER_PORT=
    # shellcheck disable=SC2034
    WORKER_OPTIONS=(--connections-per-rail "$connections")
    start_worker
    WORKERS[connections]=$TAPEDECK_WORKER
    WORKER_PIDS[connections]=$WORKER_PID
  done
}

# start_null_node: sets NULL_NODE, where everything that is recorded is dropped.
start_null_node() {
  local port
  port=$(free_port)
  start_service "$WORK/null.log" "$port" "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "127.0.0.1:$port" "${STORAGE_RAILS[@]}"
  NULL_NODE=127.0.0.1:$port
}

# prepare: sets DEVICE, the worker's, and DEVICE_TEXT, which also says what it computes with.
prepare() {
  local block_bytes
  start_storage
  start_null_node
  start_workers
  work_with 1
  tapectl --timeout 120s lun create gpu --store memory --capacity "$((LUN_BYTES + (64 << 20)))" >/dev/null
  for block_bytes in "${BLOCK_SIZES[@]}"; do
    tapectl channel create "gpu/$block_bytes" --block-bytes "$block_bytes" --datatype cf32_le --sample-rate 1e9 >/dev/null
  done
  DEVICE_TEXT=$(checked record gpu/1MiB --source synth --fft 1024 --blocks 1 | jq -r .device)
  DEVICE=${DEVICE_TEXT%% *}
  tapectl recordings delete gpu/1MiB/latest >/dev/null
}

# promises: those of a GPU; what a processor makes and transforms is none, and what it makes bounds the rest.
promises() {
  local direction
  [[ $DEVICE != host ]] || return 0
  for direction in record play; do
    printf '%s\n' "x1_one_drop_${direction}_mb_per_s >= 6000" "x1_two_drop_${direction}_mb_per_s >= 12000" \
      "x4_two_drop_${direction}_mb_per_s >= 30000" "x1_one_${direction}_mb_per_s >= 5000" "x1_two_${direction}_mb_per_s >= 10000" \
      "x4_two_${direction}_mb_per_s >= 20000" "small_to_large_$direction >= 0.7"
  done
  printf '%s\n' 'x1_drop_to_iperf3 >= 0.85' 'x4_drop_to_bare >= 0.8' 'x2_to_x1 >= 1' 'x4_to_x2 >= 1' 'worst_to_best_op >= 0.9' \
    'pipeline_mb_per_s >= 40000' 'fft_to_none >= 0.99' 'crc_to_none >= 0.97' 'stage_fft_to_cufft >= 0.909' 'verify_fft_mb_per_s >= 4000'
}

main() {
  local all threads promised
  need jq
  need ss
  need iperf3
  services_begin
  trap services_end EXIT
  prepare
  all=$(rounds "$ROUNDS" one_round)
  threads=$(core_seconds | jq -cs add)
  figure_table "$ROUNDS rounds, $DEVICE_TEXT" "$all"
  jq -r 'to_entries[] | .key as $way | .value | to_entries[] | [$way, .key, .value] | @tsv' <<<"$threads" |
    awk -F '\t' '{printf "%-24s %-16s %8.4f\n", $1, $2, $3}'
  mapfile -t promised < <(promises)
  conclude "$(jq -c --argjson machine "$(machine)" --arg device "$DEVICE_TEXT" --argjson threads "$threads" '
    def peer: test("^(iperf3|bare|plain)"); def ratio: test("_to_");
    {bench: "gpu", $device,
    figures: (with_entries(select(.key | (ratio or peer) | not)) + $threads),
    ratios: with_entries(select(.key | ratio)),
    peers: with_entries(select(.key | peer)), $machine}' <<<"$all")" "${promised[@]}"
}

main
