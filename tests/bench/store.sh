#!/usr/bin/env bash
# How fast a direct store writes and reads 1 MiB blocks, with CRC32C, index and group commit, beside fio with io_uring
# and O_DIRECT in the same directory, in turn: one member, and striped over two beside fio on two files.
#   tests/bench/store.sh [--directory DIR] [--rounds N] [--blocks N] [--depth N] [--check]
# --check exits 1 below 0.95 of fio (writing or reading, one member or two) or if durable is below 0.9 of received.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 BLOCKS=2048 DEPTH=32 CHECK=no DIRECTORY=

while [[ $# -gt 0 ]]; do
  case $1 in
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --depth) DEPTH=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# fio_mb_per_s write|read FILES: the blocks over so many files; what is written is synced at the end, as ours is.
# shellcheck disable=SC2016
fio_mb_per_s() {
  fio --name=peer --directory="$DIRECTORY/fio" --filename_format='peer.$jobnum' --numjobs="$2" --group_reporting \
    --rw="$1" --bs=1M --size="$((BLOCKS / $2))M" --ioengine=io_uring --scramble_buffers=0 --fixedbufs --registerfiles --direct=1 --iodepth="$DEPTH" --end_fsync=1 \
    --output-format=json | jq ".jobs[0].$1.bw_bytes / 1e6"
}

# tapedeck MEMBERS COMMIT
tapedeck() {
  local members=() m
  for ((m = 0; m < $1; m++)); do
    mkdir -p "$DIRECTORY/m$m"
    members+=(--member "$DIRECTORY/m$m")
  done
  tapedeck_bench store --store direct "${members[@]}" --blocks "$BLOCKS" --commit "$2"
}

# one_round MEMBERS: one line of JSON.
one_round() {
  local fio_write fio_read durable received
  rm -rf "$DIRECTORY/fio" && mkdir -p "$DIRECTORY/fio"
  fio_write=$(fio_mb_per_s write "$1")
  fio_read=$(fio_mb_per_s read "$1")
  durable=$(tapedeck "$1" durable)
  received=$(tapedeck "$1" received)
  jq -cn --argjson fio_write "$fio_write" --argjson fio_read "$fio_read" --argjson durable "$durable" \
    --argjson received "$received" --arg at "$1_" '
    {fio_write_mb_per_s: $fio_write, fio_read_mb_per_s: $fio_read, write_mb_per_s: $durable.write_mb_per_s,
     read_mb_per_s: $durable.read_mb_per_s, received_mb_per_s: $received.write_mb_per_s,
     write_cpu_s_per_gb: $durable.write_cpu_s_per_gb, read_cpu_s_per_gb: $durable.read_cpu_s_per_gb,
     write_to_fio: ($durable.write_mb_per_s / $fio_write), read_to_fio: ($durable.read_mb_per_s / $fio_read),
     durable_to_received: ($durable.write_mb_per_s / $received.write_mb_per_s)}
    | with_entries(.key |= $at + .)'
}

main() {
  local members new all='{}'
  need fio
  need jq
  begin_in_folder
  for members in 1 2; do
    new=$(rounds "$ROUNDS" one_round "$members")
    all=$(jq -c --argjson new "$new" '. + $new' <<<"$all")
  done
  figure_table "$ROUNDS rounds of $BLOCKS blocks" "$all"
  jq -c --argjson machine "$(machine)" '{bench: "store",
    figures: with_entries(select(.key | test("fio|_to_") | not)), ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^[12]_fio"))), $machine}' <<<"$all"
  [[ $CHECK == no ]] || jq -e '([to_entries[] | select(.key | test("_to_fio")) | .value.median] | min >= 0.95)
    and ([to_entries[] | select(.key | test("durable_to")) | .value.median] | min >= 0.9)' <<<"$all" >/dev/null
}

main
