#!/usr/bin/env bash
# How long a storage node takes to start over a LUN with 1,000 recordings, one of which a crash left open at 1 TiB (a
# sparse file of zeros, 596 blocks above its last watermark): with its catalog, and with none.
#   tests/bench/restart.sh [--directory DIR] [--rounds N] [--check]
# --check exits 1 over 2 s.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 CHECK=no DIRECTORY=

while [[ $# -gt 0 ]]; do
  case $1 in
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

one_round() {
  rm -rf "$DIRECTORY/restart"
  mkdir "$DIRECTORY/restart"
  tapedeck_bench restart --directory "$DIRECTORY/restart"
}

main() {
  local all
  need jq
  begin_in_folder
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "restart", figures: ., $machine}' <<<"$all")" \
    'restart_ms <= 2000' 'rebuild_ms <= 2000'
}

main
