# shellcheck shell=bash
# Sourced by the benches: the machine in JSON, medians, a table. Every bench prints a table and ends with one line
# of JSON. Figures of one run are compared with each other only: peers and Tapedeck take turns on the same machine.
set -euo pipefail
# shellcheck source=deploy/services.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/services.sh"

# --record, which every bench takes: what it measured goes into README.md beside it.
RECORD=no
for argument in "$@"; do
  shift
  if [[ $argument == --record ]]; then RECORD=yes; else set -- "$@" "$argument"; fi
done

# conclude RESULT [PROMISE...]: ends a bench with its line of JSON, in which is said which promises are kept, each "KEY >=
# NUMBER" or "KEY <= NUMBER" of a median. With CHECK a missed one fails, with RECORD all goes into README.md.
conclude() {
  local options=(--disk "${DIRECTORY:-$WORK}")
  [[ $CHECK == no ]] || options+=(--check)
  [[ $RECORD == no ]] || options+=(--record)
  "$TAPEDECK_ROOT/tests/bench/conclude.py" "${options[@]}" "${@:2}" <<<"$1"
}

need() {
  command -v "$1" >/dev/null || {
    echo "bench: $1 is missing; deploy/setup.sh --tests installs it" >&2
    exit 1
  }
}

# begin_in_folder: starts the bench in a fresh folder on the disk to be measured, that of DIRECTORY where one is given;
# DIRECTORY then names it, until the end.
begin_in_folder() {
  services_begin
  trap 'rm -rf "$DIRECTORY"; services_end' EXIT
  mkdir -p "${DIRECTORY:-$WORK}"
  DIRECTORY=$(mktemp -d -p "${DIRECTORY:-$WORK}")
}

# check_seconds TEXT: ends the bench unless it is a whole number from 1 on. Peers take a part of a second for 0, which is
# without an end.
check_seconds() {
  [[ $1 =~ ^[1-9][0-9]*$ ]] && return
  echo "bench: --seconds $1: give a whole number of seconds, 1 or more" >&2
  exit 2
}

# disk_options ARGUMENT...: those of a bench beside fio. Sets ROUNDS, BLOCKS, DEPTH, CHECK and DIRECTORY.
# shellcheck disable=SC2034
disk_options() {
  ROUNDS=5 BLOCKS=2048 DEPTH=32 CHECK=no DIRECTORY=
  while [[ $# -gt 0 ]]; do
    case $1 in
      --directory) DIRECTORY=$2 && shift 2 ;;
      --rounds) ROUNDS=$2 && shift 2 ;;
      --blocks) BLOCKS=$2 && shift 2 ;;
      --depth) DEPTH=$2 && shift 2 ;;
      --check) CHECK=yes && shift ;;
      *) sed -n '2,/^source/{/^source/!s/^# //p}' "$0" && exit 2 ;;
    esac
  done
}

# fio_mb_per_s write|read OPTION...: 1 MiB blocks as a direct store moves them; what is written is synced at the end,
# as ours is.
fio_mb_per_s() {
  fio --name=peer --rw="$1" --bs=1M --ioengine=io_uring --scramble_buffers=0 --fixedbufs --registerfiles --direct=1 \
    --iodepth="$DEPTH" --end_fsync=1 --output-format=json "${@:2}" | jq ".jobs[0].$1.bw_bytes / 1e6"
}

# machine: what the figures were measured on.
machine() {
  jq -cn --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg kernel "$(uname -r)" \
    --argjson memory_bytes "$(($(awk '/^MemTotal:/ {print $2}' /proc/meminfo) * 1024))" \
    --argjson load "$(cut -d ' ' -f 1 /proc/loadavg)" \
    --arg commit "$(git -C "$TAPEDECK_ROOT" describe --always --dirty 2>/dev/null || echo unknown)" \
    '{$cpu, $cores, $kernel, $memory_bytes, $load, $commit}'
}

# tapedeck_bench ARGUMENT...: its line of JSON. The services' log lines are shown only when it fails.
tapedeck_bench() {
  "$TAPEDECK_BIN/tapedeck-bench" "$@" 2>"$WORK/bench.log" | tail -n 1 || {
    tail -n 20 "$WORK/bench.log" >&2
    return 1
  }
}

# transfer_measured OPTION...: {rate, cpu} of a memory LUN of LUN bytes over two TCP rails for DURATION seconds: MB/s, recording and
# playing together, and CPU seconds per GB, those of both ends and of starting them.
transfer_measured() {
  local answer
  TIMEFORMAT='%U %S'
  { time answer=$(tapedeck_bench transfer --seconds "$DURATION" --lun-bytes "${LUN:-1GiB}" "$@"); } 2>"$WORK/cpu"
  jq -c --argjson cpu "$(awk '{print $1 + $2}' "$WORK/cpu")" '(.record_bytes + .play_bytes) as $bytes
    | {rate: ($bytes / (.record_bytes / .record_mb_per_s + .play_bytes / .play_mb_per_s)), cpu: ($cpu * 1e9 / $bytes)}' \
    <<<"$answer"
}

# of_rounds ROUND...: each is {"figure": number, ...}; prints {"figure": {median, min, max}, ...}.
of_rounds() {
  # shellcheck disable=SC2016
  printf '%s\n' "$@" | jq -cs '
    def median: sort | if length % 2 == 1 then .[length / 2 | floor]
                       else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    . as $rounds | reduce (.[0] | keys_unsorted[]) as $key ({};
      [$rounds[][$key]] as $values
      | .[$key] = {median: ($values | median), min: ($values | min), max: ($values | max)})'
}

# rounds NUMBER COMMAND...: runs it so often; each answer, one line of JSON, goes to stderr, of_rounds' answer to stdout.
rounds() {
  local answers=() round
  for ((round = 1; round <= $1; round++)); do
    answers+=("$("${@:2}")") || return 1
    echo "${*:2}, round $round of $1: ${answers[-1]}" >&2
  done
  of_rounds "${answers[@]}"
}

# figure_table TITLE FIGURES: of_rounds' answer for people.
figure_table() {
  printf '%-28s %12s %12s %12s\n' "$1" median min max
  jq -r 'to_entries[] | [.key, .value.median, .value.min, .value.max] | @tsv' <<<"$2" |
    while IFS=$'\t' read -r name median min max; do
      printf '%-28s %12.2f %12.2f %12.2f\n' "$name" "$median" "$min" "$max"
    done
}

# listens PORT
listens() { [[ -n $(ss -Htln "sport = :$1") ]]; }

# iperf3_on ADDRESS...: a stream to each for DURATION seconds, all at the same time; their results are WORK/iperf3-ADDRESS.json. A
# pair of processes for each: this iperf3 has one thread for all its streams.
iperf3_on() {
  local address port clients=() servers=() pid
  for address in "$@"; do
    port=$(free_port)
    iperf3 -s -1 -B "$address" -p "$port" >"$WORK/iperf3-server-$address.log" 2>&1 &
    servers+=($!)
    wait_for 15 listens "$port"
    iperf3 -c "$address" -p "$port" -t "$DURATION" --json >"$WORK/iperf3-$address.json" &
    clients+=($!)
  done
  for pid in "${clients[@]}" "${servers[@]}"; do wait "$pid"; done
}
