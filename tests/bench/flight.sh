#!/usr/bin/env bash
# What it costs to be seen: two TCP rails and a memory LUN with the flight recorder on and the node's metrics read once a second,
# and with neither, in turn, with blocks of 1 MiB and of 64 KiB. Prints rates, recording and playing together, CPU seconds of
# both ends per GB, and the ratios.
#   tests/bench/flight.sh [--rounds N] [--seconds N] [--check]
# --check exits 1 where the medians cost more than 1 % of the rate or 2 % of CPU per GB at 1 MiB, or 3 % of the rate at 64 KiB.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=4 CHECK=no
SIZES=(1MiB 64KiB)

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

# reads_metrics PORT: once a second, until it is killed. Says in WORK/scrapes how often it got them.
reads_metrics() {
  while sleep 1; do
    ! curl -sf --max-time 1 "http://127.0.0.1:$1/metrics" >"$WORK/metrics" || echo read >>"$WORK/scrapes"
  done
}

# measured seen|unseen BLOCK_BYTES: {rate, cpu} of one run.
measured() {
  local port reader status=0
  if [[ $1 == unseen ]]; then
    TAPEDECK_FLIGHT=off transfer_measured --block-bytes "$2"
    return
  fi
  port=$(free_port)
  reads_metrics "$port" &
  reader=$!
  TAPEDECK_FLIGHT=on transfer_measured --block-bytes "$2" --admin "127.0.0.1:$port" || status=$?
  kill "$reader"
  wait "$reader" || true
  return "$status"
}

# one_round: seen, unseen, unseen, seen, so that a machine which gets faster or slower meanwhile favours neither; the next round
# the other way round, as the first run of a block size is another than those behind it.
one_round() {
  local size mode order=(seen unseen unseen seen) parts=()
  if [[ -e $WORK/turned ]]; then
    order=(unseen seen seen unseen)
    rm "$WORK/turned"
  else
    touch "$WORK/turned"
  fi
  for size in "${SIZES[@]}"; do
    for mode in "${order[@]}"; do
      parts+=("$(measured "$mode" "$size" | jq -c --arg key "${mode}_${size,,}" '. + {$key}')")
    done
  done
  printf '%s\n' "${parts[@]}" | jq -cs --args '
    def mean(key; what): [.[] | select(.key == key)[what]] | add / length;
    . as $all | reduce $ARGS.positional[] as $size ({};
      reduce ("rate", "cpu") as $what (.;
        reduce ("seen", "unseen") as $mode (.; .[$what + "_" + $mode + "_" + $size] = ($all | mean($mode + "_" + $size; $what)))
        | .[$what + "_seen_to_unseen_" + $size] = .[$what + "_seen_" + $size] / .[$what + "_unseen_" + $size]))' "${SIZES[@],,}"
}

main() {
  local all
  need jq
  need curl
  services_begin
  trap services_end EXIT
  : >"$WORK/scrapes"
  all=$(rounds "$ROUNDS" one_round)
  [[ -s $WORK/scrapes ]] || {
    echo "bench: the node's metrics were never read: try more --seconds" >&2
    exit 1
  }
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "flight", figures: with_entries(select(.key | contains("_to_") | not)),
    ratios: with_entries(select(.key | contains("_to_"))), $machine}' <<<"$all")" \
    'rate_seen_to_unseen_1mib >= 0.99' 'cpu_seen_to_unseen_1mib <= 1.02' 'rate_seen_to_unseen_64kib >= 0.97'
}

main
