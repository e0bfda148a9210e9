#!/usr/bin/env bash
# What the flight recorder costs: two TCP rails and a memory LUN with it on and off, in turn, with blocks of 1 MiB and of
# 64 KiB. Prints rates, recording and playing together, CPU seconds of both ends per GB, and their ratios on to off.
#   tests/bench/flight.sh [--rounds N] [--seconds N] [--check]
# --check exits 1 where the medians cost more than 1 % of the rate or 2 % of CPU per GB at 1 MiB, or 3 % of the rate at 64 KiB.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=4 CHECK=no

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# measured on|off BLOCK_BYTES: {rate, cpu} of one run. CPU seconds are those of both ends and of starting them.
measured() {
  local answer
  TIMEFORMAT='%U %S'
  { time answer=$(TAPEDECK_FLIGHT=$1 tapedeck_bench transfer --seconds "$DURATION" --block-bytes "$2" \
    --lun-bytes 1GiB); } 2>"$WORK/cpu"
  jq -c --argjson cpu "$(awk '{print $1 + $2}' "$WORK/cpu")" '(.record_bytes + .play_bytes) as $bytes
    | {rate: ($bytes / (.record_bytes / .record_mb_per_s + .play_bytes / .play_mb_per_s)), cpu: ($cpu * 1e9 / $bytes)}' \
    <<<"$answer"
}

# one_round: on, off, off, on, so that a machine which gets faster or slower meanwhile favours neither.
one_round() {
  local size mode parts=()
  for size in 1MiB 64KiB; do
    for mode in on off off on; do
      parts+=("$(measured "$mode" "$size" | jq -c --arg mode "$mode" --arg size "$size" '. + {$mode, $size}')")
    done
  done
  printf '%s\n' "${parts[@]}" | jq -cs '
    def mean(mode; size; what): [.[] | select(.mode == mode and .size == size)[what]] | add / length;
    . as $all | reduce ("1MiB", "64KiB") as $size ({}; . + ($all
      | {("rate_on_" + $size): mean("on"; $size; "rate"), ("rate_off_" + $size): mean("off"; $size; "rate"),
         ("cpu_on_" + $size): mean("on"; $size; "cpu"), ("cpu_off_" + $size): mean("off"; $size; "cpu")})
      | .["rate_ratio_" + $size] = .["rate_on_" + $size] / .["rate_off_" + $size]
      | .["cpu_ratio_" + $size] = .["cpu_on_" + $size] / .["cpu_off_" + $size])'
}

main() {
  local all
  need jq
  services_begin
  trap services_end EXIT
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  jq -c --argjson machine "$(machine)" '{bench: "flight", figures: with_entries(select(.key | contains("ratio") | not)),
    ratios: with_entries(select(.key | contains("ratio"))), $machine}' <<<"$all"
  [[ $CHECK == no ]] || jq -e '.rate_ratio_1MiB.median >= 0.99 and .cpu_ratio_1MiB.median <= 1.02
                               and .rate_ratio_64KiB.median >= 0.97' <<<"$all" >/dev/null
}

main
