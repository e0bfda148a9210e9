#!/usr/bin/env bash
# How much faster a direct store writes 1 MiB blocks into files that were written before (tapectl lun create
# --prewrite-files --prewrite-bytes) than into new ones, durably, in turn; and fio with io_uring and O_DIRECT, into files
# that were allocated and into files that were written.
#   tests/bench/prewrite.sh [--directory DIR] [--rounds N] [--blocks N] [--depth N] [--check]
# --check exits 1 if it is not faster.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

disk_options "$@"

# one_file OPTION...: fio's rate into one file.
one_file() { fio_mb_per_s write --filename="$DIRECTORY/peer" --size="${BLOCKS}M" "$@"; }

# tapedeck [--prewritten]
tapedeck() {
  mkdir -p "$DIRECTORY/m"
  tapedeck_bench store --store direct --member "$DIRECTORY/m" --blocks "$BLOCKS" "$@"
}

# one_round: one line of JSON.
one_round() {
  local fio_new fio_written new written
  rm -f "$DIRECTORY/peer"
  fio_new=$(one_file --fallocate=native)
  fio_written=$(one_file --overwrite=1)
  rm -f "$DIRECTORY/peer"
  new=$(tapedeck)
  written=$(tapedeck --prewritten)
  jq -cn --argjson fio_new "$fio_new" --argjson fio_written "$fio_written" --argjson new "$new" \
    --argjson written "$written" '
    {fio_new_mb_per_s: $fio_new, fio_written_mb_per_s: $fio_written, new_mb_per_s: $new.write_mb_per_s,
     written_mb_per_s: $written.write_mb_per_s, new_cpu_s_per_gb: $new.write_cpu_s_per_gb,
     written_cpu_s_per_gb: $written.write_cpu_s_per_gb, fio_written_to_new: ($fio_written / $fio_new),
     written_to_new: ($written.write_mb_per_s / $new.write_mb_per_s)}'
}

main() {
  local all
  need fio
  need jq
  begin_in_folder
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $BLOCKS blocks" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "prewrite",
    figures: with_entries(select(.key | test("^fio|_to_") | not)), ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^fio.*mb_per_s"))), $machine}' <<<"$all")" 'written_to_new >= 1'
}

main
