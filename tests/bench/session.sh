#!/usr/bin/env bash
# How long a session takes from its Open to its first block, over loopback.
#   tests/bench/session.sh [--sessions N] [--check]      --check exits 1 if the median is over 50 ms
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SESSIONS=200 CHECK=no

while [[ $# -gt 0 ]]; do
  case $1 in
    --sessions) SESSIONS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,3s/^# //p' "$0" && exit 2 ;;
  esac
done

need jq
services_begin
trap services_end EXIT
answer=$(tapedeck_bench session --json --sessions "$SESSIONS")
printf '%-28s %12s %12s %12s\n' "open to first block (ms)" p50 p99 max
jq -r '.open_to_first_block_ms | [.p50, .p99, .max] | @tsv' <<<"$answer" |
  while IFS=$'\t' read -r p50 p99 max; do
    printf '%-28s %12.2f %12.2f %12.2f\n' "$SESSIONS sessions" "$p50" "$p99" "$max"
  done
conclude "$(jq -c --argjson sessions "$SESSIONS" --argjson machine "$(machine)" \
  '{bench: "session", figures: {$sessions, open_to_first_block_ms}, ratios: {}, peers: {}, $machine}' <<<"$answer")" \
  'open_to_first_block_ms.p50 <= 50'
