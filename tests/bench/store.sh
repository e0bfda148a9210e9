#!/usr/bin/env bash
# How fast a direct store writes and reads 1 MiB blocks, with CRC32C, index and group commit, beside fio with io_uring
# and O_DIRECT in the same directory, in turn: one member, and striped over two beside fio on two files.
#   tests/bench/store.sh [--directory DIR] [--rounds N] [--blocks N] [--depth N] [--check]
# --check exits 1 below 0.95 of fio (writing or reading, one member or two) or if durable is below 0.9 of received.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

disk_options "$@"

# files write|read NUMBER: fio's rate, the blocks over so many files.
# shellcheck disable=SC2016
files() {
  fio_mb_per_s "$1" --directory="$DIRECTORY/fio" --filename_format='peer.$jobnum' --numjobs="$2" --group_reporting \
    --size="$((BLOCKS / $2))M"
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
  fio_write=$(files write "$1")
  fio_read=$(files read "$1")
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
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "store",
    figures: with_entries(select(.key | test("fio|_to_") | not)), ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^[12]_fio"))), $machine}' <<<"$all")" \
    '1_write_to_fio >= 0.95' '1_read_to_fio >= 0.95' '2_write_to_fio >= 0.95' '2_read_to_fio >= 0.95' \
    '1_durable_to_received >= 0.9' '2_durable_to_received >= 0.9'
}

main
