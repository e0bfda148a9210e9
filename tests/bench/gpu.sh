#!/usr/bin/env bash
# What a GPU worker moves over TCP rails on loopback, FFTs of 1024 points and CRC on: between its device and a memory LUN, through the
# programs, over one rail and two, by connections of a rail; over the rails alone, to a sink that drops; out of its record pipeline
# alone; beside a stream of iperf3 for each rail. Then what its threads cost. Without a GPU the device is the host, as is said.
#   tests/bench/gpu.sh [--device D] [--rounds N] [--seconds N] [--lun-bytes B] [--check]      --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 DURATION=4 LUN_BYTES=$((4 << 30)) CHECK=no
WORKER_DEVICE=auto
CONNECTIONS=(1 2 4)
WORKERS=() WORKER_PIDS=()
ADDRESSES=(127.0.0.1 127.0.0.2)

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

# one_way NAME JSON...: {"NAME": MB/s} of jobs one after the other.
one_way() {
  printf '%s\n' "${@:2}" | jq -cs --arg name "$1" '{($name): ((map(.bytes) | add) / (map(.bytes / .mb_per_s) | add))}'
}

# both_ways NAME RAILS BLOCK_BYTES: the LUN is filled and played, again and again, for DURATION seconds. In JSON.
both_ways() {
  local blocks end recorded=() played=() name
  blocks=$((LUN_BYTES / $(numfmt --from=iec-i "${3%B}")))
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

# rails_alone CONNECTIONS CRC [RAIL...]: MB/s of sessions of which nothing is stored, for about DURATION seconds.
rails_alone() {
  local rate rails blocks=500
  rails=$(IFS=, && echo "${*:3}")
  for _ in 1 2; do
    rate=$(tapedeck_bench rails --rails "$rails" --connections-per-rail "$1" --crc "$2" --blocks "$blocks") || return 1
    rate=$(jq .mb_per_s <<<"$rate")
    blocks=$(jq -n "$rate * $DURATION * 1e6 / 1048576 | ceil")
  done
  echo "$rate"
}

# dropped CONNECTIONS: the rails alone, one and two.
dropped() {
  jq -cn --arg x "x$1" --argjson one "$(rails_alone "$1" on "${ADDRESSES[0]}")" \
    --argjson two "$(rails_alone "$1" on "${ADDRESSES[@]}")" \
    '{($x + "_one_drop_mb_per_s"): $one, ($x + "_two_drop_mb_per_s"): $two}'
}

# pipeline: the record pipeline alone; direct where the device has memory of its own.
pipeline() {
  local blocks=$((DURATION * 2000))
  [[ $DEVICE != host ]] || blocks=$((DURATION * 250))
  "$TAPEDECK_BIN/gpu_worker_pipeline_bench" "$DEVICE" "$blocks" 2>/dev/null | tail -n 1 |
    jq -c '.mb_per_s | {pipeline_mb_per_s: (.["record synth fft, direct"] // .["record synth fft"]),
                        pipeline_without_fft_mb_per_s: (.["record synth, direct"] // .["record synth"])}'
}

# peers: two streams of iperf3, and the rails without CRC.
peers() {
  iperf3_on "${ADDRESSES[@]}"
  jq -cs --argjson without "$(rails_alone 1 off "${ADDRESSES[@]}")" '{
    iperf3_mb_per_s: ([.[].end.sum_received.bits_per_second] | add / 8e6),
    x1_two_drop_without_crc_mb_per_s: $without}' "$WORK"/iperf3-*.json
}

# one_round: one line of JSON with every figure and the ratios of this round.
one_round() {
  local connections
  {
    peers
    pipeline
    for connections in "${CONNECTIONS[@]}"; do
      dropped "$connections"
      work_with "$connections"
      both_ways "x${connections}_one" r0 1MiB
      both_ways "x${connections}_two" r0,r1 1MiB
    done
    both_ways blocks_2MiB r0,r1 2MiB
    both_ways blocks_8MiB r0,r1 8MiB
  } >"$WORK/round.json" || return 1
  jq -cs 'add | . + {x1_drop_to_iperf3: (.x1_two_drop_mb_per_s / .iperf3_mb_per_s),
    fft_to_none: (.pipeline_mb_per_s / .pipeline_without_fft_mb_per_s),
    crc_to_none: (.x1_two_drop_mb_per_s / .x1_two_drop_without_crc_mb_per_s)}' "$WORK/round.json"
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

# prepare: sets DEVICE, the worker's, and DEVICE_TEXT, which also says what it computes with.
prepare() {
  local block_bytes
  start_storage
  start_workers
  work_with 1
  tapectl --timeout 120s lun create gpu --store memory --capacity "$((LUN_BYTES + (64 << 20)))" >/dev/null
  for block_bytes in 1MiB 2MiB 8MiB; do
    tapectl channel create "gpu/$block_bytes" --block-bytes "$block_bytes" --datatype cf32_le --sample-rate 1e9 >/dev/null
  done
  DEVICE_TEXT=$(checked record gpu/1MiB --source synth --fft 1024 --blocks 1 | jq -r .device)
  DEVICE=${DEVICE_TEXT%% *}
  tapectl recordings delete gpu/1MiB/latest >/dev/null
}

main() {
  local all threads promises=('x1_two_drop_mb_per_s >= 12000' 'x1_drop_to_iperf3 >= 0.85' 'x1_two_record_mb_per_s >= 10000'
    'x1_two_play_mb_per_s >= 10000' 'x4_two_drop_mb_per_s >= 30000' 'x4_two_record_mb_per_s >= 20000' 'x4_two_play_mb_per_s >= 20000'
    'crc_to_none >= 0.97')
  need jq
  need ss
  need iperf3
  services_begin
  trap services_end EXIT
  prepare
  # What a processor makes and transforms is no promise.
  [[ $DEVICE == host ]] || promises+=('pipeline_mb_per_s >= 40000' 'fft_to_none >= 0.99')
  all=$(rounds "$ROUNDS" one_round)
  threads=$(core_seconds | jq -cs add)
  figure_table "$ROUNDS rounds, $DEVICE_TEXT" "$all"
  jq -r 'to_entries[] | .key as $way | .value | to_entries[] | [$way, .key, .value] | @tsv' <<<"$threads" |
    awk -F '\t' '{printf "%-24s %-16s %8.4f\n", $1, $2, $3}'
  conclude "$(jq -c --argjson machine "$(machine)" --arg device "$DEVICE_TEXT" --argjson threads "$threads" '{bench: "gpu", $device,
    figures: (with_entries(select(.key | test("_to_|iperf3") | not)) + $threads),
    ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key == "iperf3_mb_per_s")), $machine}' <<<"$all")" "${promises[@]}"
}

main
