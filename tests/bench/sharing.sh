#!/usr/bin/env bash
# How a direct LUN is shared: eight recordings and two playbacks together beside one recording alone, and one that is
# followed 200 ms behind beside one that is not, at full speed and at half of it. *_from_memory: the part of its blocks
# that the follower did not read back from the disk.
#   tests/bench/sharing.sh [--directory DIR] [--rounds N] [--seconds N] [--follow-memory SIZE] [--check]
# --check exits 1 if all together are below 0.9 of one, or a follower costs a recording more than 5 %.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=3 FOLLOW_MEMORY=1GiB CHECK=no DIRECTORY=

while [[ $# -gt 0 ]]; do
  case $1 in
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --follow-memory) FOLLOW_MEMORY=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

one_round() {
  local figures
  mkdir "$DIRECTORY/member"
  figures=$(tapedeck_bench sharing --store direct --member "$DIRECTORY/member" --seconds "$DURATION" \
    --follow-memory "$FOLLOW_MEMORY")
  rm -rf "$DIRECTORY/member"
  jq -c '. + {together_to_alone: (.together_mb_per_s / .alone_mb_per_s), followed_to_alone: (.followed_mb_per_s / .alone_mb_per_s),
    paced_followed_to_paced: (.paced_followed_mb_per_s / .paced_mb_per_s)}' <<<"$figures"
}

main() {
  local all
  need jq
  begin_in_folder
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "sharing", figures: with_entries(select(.key | test("mb_per_s|from_memory|cpu_s"))),
    ratios: with_entries(select(.key | test("_to_"))), $machine}' <<<"$all")" \
    'together_to_alone >= 0.9' 'followed_to_alone >= 0.95' 'paced_followed_to_paced >= 0.95'
}

main
