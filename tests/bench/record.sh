#!/usr/bin/env bash
# How fast two TCP rails record into a direct LUN and play from it, end to end, beside what the two halves reach alone in
# the same run: the same rails with a memory LUN, and the same store without a network.
#   tests/bench/record.sh [--directory DIR] [--rounds N] [--seconds N] [--check]
# --check exits 1 below 0.9 of the smaller half, recording or playing.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=4 CHECK=no DIRECTORY=
LUN_BYTES=$((2 << 30))

while [[ $# -gt 0 ]]; do
  case $1 in
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# A fresh member each time: a LUN keeps its directory.
member() { mktemp -d -p "$DIRECTORY" member.XXXXXX; }

# one_round: one line of JSON. CPU seconds are those of both ends and of starting them.
one_round() {
  local transfer store whole cpu
  transfer=$(tapedeck_bench transfer --seconds "$DURATION" --lun-bytes "$LUN_BYTES")
  store=$(tapedeck_bench store --store direct --member "$(member)" --blocks $((LUN_BYTES >> 20)))
  TIMEFORMAT='%U %S'
  { time whole=$(tapedeck_bench transfer --store direct --member "$(member)" --seconds "$DURATION" \
    --lun-bytes "$LUN_BYTES"); } 2>"$WORK/cpu"
  cpu=$(awk '{print $1 + $2}' "$WORK/cpu")
  rm -rf "$DIRECTORY"/member.*
  jq -cn --argjson transfer "$transfer" --argjson store "$store" --argjson whole "$whole" --argjson cpu "$cpu" '
    {transfer_record_mb_per_s: $transfer.record_mb_per_s, transfer_play_mb_per_s: $transfer.play_mb_per_s,
     store_write_mb_per_s: $store.write_mb_per_s, store_read_mb_per_s: $store.read_mb_per_s,
     record_mb_per_s: $whole.record_mb_per_s, play_mb_per_s: $whole.play_mb_per_s,
     cpu_s_per_gb: ($cpu * 1e9 / ($whole.record_bytes + $whole.play_bytes)),
     record_to_half: ($whole.record_mb_per_s / ([$transfer.record_mb_per_s, $store.write_mb_per_s] | min)),
     play_to_half: ($whole.play_mb_per_s / ([$transfer.play_mb_per_s, $store.read_mb_per_s] | min))}'
}

main() {
  local all
  need jq
  begin_in_folder
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "record",
    figures: with_entries(select(.key | test("^(record|play)_mb|^cpu"))),
    ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^(transfer|store)_"))), $machine}' <<<"$all")" \
    'record_to_half >= 0.9' 'play_to_half >= 0.9'
}

main
