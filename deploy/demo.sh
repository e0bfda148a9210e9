#!/usr/bin/env bash
# Records FFT blocks from a GPU worker to a storage node and plays them back, over one rail, the
# other, and both, on loopback, each three times in turned order; checks every block of the first.
# Says how busy the processors were and what bounded each. Builds first if need be; leaves nothing
# running.
#   deploy/demo.sh [--blocks N] [--store memory|posix]      N blocks of 1 MiB per run; default 640
#   deploy/demo.sh --keep      measures nothing: leaves both services and the console running
#   deploy/demo.sh --stop      ends these; their recordings stay
# With TAPEDECK_BIN set, the programs in that directory are used as they are.
set -euo pipefail
READY_BIN=${TAPEDECK_BIN:-}
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=deploy/services.sh
source "$TAPEDECK_ROOT/deploy/services.sh"
# shellcheck source=deploy/demo_kept.sh
source "$TAPEDECK_ROOT/deploy/demo_kept.sh"

BLOCKS=640
ROUNDS=3
STORE=
CHANNEL=demo/fft
SOURCE=() PLACE='' MADE='' KEEP=
LOST=0 CRC_ERRORS=0 VERIFIED=0

parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --blocks) BLOCKS=${2:?--blocks needs a number} ;;
      --store) STORE=${2:?--store needs memory or posix} ;;
      --keep) KEEP=yes && shift && continue ;;
      --stop) stop_kept; exit ;;
      *)
        sed -n '2,9s/^# //p' "${BASH_SOURCE[0]}"
        exit 2
        ;;
    esac
    shift 2
  done
  if [[ -z $STORE ]]; then
    # A run's blocks in memory, rings and room to spare; else the disk.
    local available_kb
    available_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
    STORE=posix
    ((available_kb / 1024 < BLOCKS * 2 + 1024)) || STORE=memory
  fi
}

build_if_needed() {
  [[ -z $READY_BIN ]] || return 0
  tapedeck_install "${TAPEDECK_PACKAGES[@]}"
  tapedeck_install_if_can "${TAPEDECK_SPEED_PACKAGES[@]}"
  # shellcheck disable=SC2034
  TAPEDECK_TARGETS=(tapedeck-storage tapedeck-worker tapectl tapedeck-emulator)  # with the tests it takes twice as long
  local without=()
  if [[ -n $KEEP ]]; then
    tapedeck_install_if_can "${TAPEDECK_PAGE_PACKAGES[@]}"
    [[ -e $TAPEDECK_ROOT/build/CMakeCache.txt ]] || without=(-DTAPEDECK_RADOS=OFF)
  elif [[ ! -e $TAPEDECK_ROOT/build/CMakeCache.txt ]]; then
    without=("${TAPEDECK_OPTIONAL_ROOMS[@]/%/=OFF}")
    echo "Building without Ceph, HDF5, tapectl mount and the console's page, which the demo does not need; deploy/setup.sh adds them"
  fi
  tapedeck_build_shown Building "$TAPEDECK_ROOT/build/demo-build.log" "$TAPEDECK_ROOT/build" "${without[@]}"
}

prepare() {
  local member=()
  if [[ $STORE == posix ]]; then
    mkdir -p "$WORK/member"
    member=(--member "$WORK/member")
  fi
  # A memory LUN takes all of its memory now, which may last some seconds.
  tapectl --timeout 120s lun create demo --store "$STORE" "${member[@]}" --capacity "$((BLOCKS + 64))MiB" >/dev/null
  tapectl channel create "$CHANNEL" --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9 >/dev/null
}

# As tapectl_json; a failure says what was asked and how the services' logs end.
checked() {
  local answer
  if ! answer=$(tapectl_json "$@"); then
    echo "demo: tapectl $* failed: $answer" >&2
    tail -n 15 "$WORK/storage.log" "$WORK/worker.log" >&2
    return 1
  fi
  echo "$answer"
}

# choose_source: a GPU makes blocks as fast as any rail takes them. A processor core does not: there the blocks are made once,
# into a file that stays in the page cache. Sets SOURCE, the place the blocks come from, and a sentence about it.
choose_source() {
  local first name
  SOURCE=(synth --fft 1024 --blocks "$BLOCKS") PLACE=GPU MADE="Each run makes its blocks on the GPU."
  echo "Making $BLOCKS blocks of 1 MiB: 128 FFTs of 1024 points each"
  first=$(checked record "$CHANNEL" --source "${SOURCE[@]}")
  name=$(jq -r .recording <<<"$first")
  verify "$name"
  if [[ $(jq -r .device <<<"$first") != cuda* ]]; then
    checked play "$name" --sink "file:$WORK/blocks" >/dev/null
    SOURCE=("file:$WORK/blocks") PLACE='host memory'
    MADE="Without a GPU the blocks are made beforehand, at $(jq '.mb_per_s | round' <<<"$first") MB/s on one core, and recorded from memory."
  fi
  tapectl recordings delete "$name" >/dev/null
}

# verify RECORDING: plays it with a check of every block, which computes it again or compares it, and counts.
verify() {
  local check sink=verify
  if [[ ${SOURCE[0]} == file:* ]]; then sink=file:$WORK/copy; fi
  check=$(checked play "$1" --sink "$sink" "${@:2}")
  if [[ $sink != verify ]]; then
    cmp "$WORK/copy" "$WORK/blocks"
    rm "$WORK/copy"
  fi
  count "$check"
  VERIFIED=$((VERIFIED + $(jq .blocks <<<"$check")))
}

# measured TARGET COMMAND...: the JSON of a job, with how many processors were busy while it moved blocks, how many of them with
# other programs, and what bounded its rate. TARGET is what explain is asked about: name (the job), or recording.
measured() {
  local answer limit
  processors_begin "$STORAGE_PID" "$WORKER_PID"
  answer=$(checked "${@:2}")
  processors_end
  limit=$(tapectl_json explain "$(jq -r ".$1" <<<"$answer")" | jq -r .limited_by)
  jq -c --arg limit "$limit" --argjson seconds "$PROCESSORS_SECONDS" --argjson others "$PROCESSORS_OTHERS" --argjson all "$(nproc)" '
    ([$all, $seconds / ([.elapsed_s, 0.001] | max) + $others] | min) as $busy
    | . + {$busy, others: ([$busy, $others] | min), limit: (if $busy > 0.9 * $all then "processors" else $limit end)}' <<<"$answer"
}

# run_once RAILS: records, plays back, in the first round plays back with the check, which is slower than the rails, and deletes.
# Adds the JSON of both to RECORDS and PLAYS.
run_once() {
  local record recording play
  record=$(measured recording record "$CHANNEL" --source "${SOURCE[@]}" --rails "$1")
  recording=$(jq -r .recording <<<"$record")
  play=$(measured name play "$recording" --sink null --rails "$1")
  [[ -n ${RECORDS[$1]:-} ]] || verify "$recording" --rails "$1"
  tapectl recordings delete "$recording" >/dev/null
  count "$record"
  count "$play"
  RECORDS[$1]+=$record$'\n'
  PLAYS[$1]+=$play$'\n'
}

# middle RUNS: the one of these lines of JSON whose rate is the median.
middle() { jq -cs 'sort_by(.mb_per_s)[length / 2 | floor]' <<<"$1"; }

count() {
  LOST=$((LOST + $(jq .lost_blocks <<<"$1")))
  CRC_ERRORS=$((CRC_ERRORS + $(jq .crc_errors <<<"$1")))
}

# rail_rate JSON RAIL: MB/s over that rail, empty where it carried nothing.
rail_rate() {
  jq -r --arg rail "$2" '.rails[] | select(.name == $rail and .blocks > 0) | .mb_per_s | round' <<<"$1"
}

row() { printf '| %-28s | %17s | %17s | %18s | %10s | %9s | %-10s |\n' "$@"; }

# table TITLE JSON_R0 JSON_R1 JSON_BOTH
table() {
  local label=('SINGLE PORT' 'SINGLE PORT' 'DUAL PORT') dashes json i=0
  row "$1" 'Port 1 (MB/sec)' 'Port 2 (MB/sec)' 'Aggregate (MB/sec)' "Cores busy" "By others" "Limit"
  dashes=$(printf '%.0s-' {1..28})
  row "$dashes" "${dashes:0:17}" "${dashes:0:17}" "${dashes:0:18}" "${dashes:0:10}" "${dashes:0:9}" "${dashes:0:10}"
  for json in "${@:2}"; do
    row "${label[i++]}" "$(rail_rate "$json" r0)" "$(rail_rate "$json" r1)" "$(jq '.mb_per_s | round' <<<"$json")" \
      "$(jq -r '.busy * 10 | round / 10' <<<"$json") of $(nproc)" "$(jq '.others * 10 | round / 10' <<<"$json")" "$(jq -r .limit <<<"$json")"
  done
  echo
}

next_commands() {
  cat <<TEXT
Next, in three terminals, with build/bin in PATH:
  tapedeck-storage --listen 127.0.0.1:7400 --state /tmp/deck --rail r0=tcp:127.0.0.1 --rail r1=tcp:127.0.0.2
  tapedeck-worker  --listen 127.0.0.1:7500 --device auto     --rail r0=tcp:127.0.0.1 --rail r1=tcp:127.0.0.2
  mkdir -p /tmp/deck-data && tapectl lun create l0 --store posix --member /tmp/deck-data --capacity 10GiB
  tapectl channel create l0/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9
  tapectl record l0/c0 --source synth --fft 1024 --duration 5s
  tapectl recordings list
  tapectl play l0/c0/latest --sink verify
TEXT
}

# run_all: each choice of rails once a round, in turned order, so that a machine which gets faster or slower meanwhile favours none.
run_all() {
  local round rails order=(r0 r1 "r0,r1")
  for ((round = 1; round <= ROUNDS; round++)); do
    echo "Recording and playing over r0, r1 and both: round $round of $ROUNDS"
    for rails in "${order[@]}"; do run_once "$rails"; done
    order=("${order[@]:1}" "${order[0]}")
  done
}

# all_middles RUNS_R0 RUNS_R1 RUNS_BOTH: sets MIDDLES.
all_middles() {
  local runs
  MIDDLES=()
  for runs in "$@"; do MIDDLES+=("$(middle "$runs")"); done
}

main() {
  declare -gA RECORDS=() PLAYS=()
  parse_arguments "$@"
  build_if_needed
  if [[ -n $KEEP ]]; then
    keep
    exit
  fi
  services_begin
  trap services_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  start_storage
  start_worker
  prepare
  choose_source
  run_all
  echo
  echo "$BLOCKS blocks of 1 MiB per run, the median of $ROUNDS, $STORE LUN, two TCP rails on loopback, $(nproc) cores. $MADE"
  echo
  all_middles "${RECORDS[r0]}" "${RECORDS[r1]}" "${RECORDS[r0,r1]}"
  table "RECORDING (from $PLACE)" "${MIDDLES[@]}"
  all_middles "${PLAYS[r0]}" "${PLAYS[r1]}" "${PLAYS[r0,r1]}"
  table "PLAYBACK (to $PLACE)" "${MIDDLES[@]}"
  echo "verified $VERIFIED of $((BLOCKS * 4)) blocks"
  echo "lost $LOST"
  echo "crc errors $CRC_ERRORS"
  echo
  next_commands
  ((LOST == 0 && CRC_ERRORS == 0 && VERIFIED == BLOCKS * 4))
}

main "$@"
