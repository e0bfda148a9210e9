#!/usr/bin/env bash
# What browsers cost a recording: synth into a memory LUN over two TCP rails, alone and beside 50 clients of the console that
# watch the node's figures twice a second, as its page does, and one that has stopped reading; in turn.
#   tests/bench/console.sh [--rounds N] [--blocks N] [--check]      --check exits 1 where they cost more than 2 % of the rate
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=7 BLOCKS=1500 CHECK=no CLIENTS=50
CLIENT_PIDS=()

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,4s/^# //p' "$0" && exit 2 ;;
  esac
done

# The stream that the page watches.
STATS_PATH=/api/tapedeck.v1.NodeService/WatchStats
STATS_REQUEST='{"interval_s":0.5}'

begin_clients() {
  local i
  for ((i = 0; i < CLIENTS; ++i)); do
    curl -sN -H 'Accept: text/event-stream' -H 'Content-Type: application/json' --data "$STATS_REQUEST" \
      "http://127.0.0.1:$CONSOLE$STATS_PATH" -o "$WORK/client-$i" &
    CLIENT_PIDS+=($!)
  done
  exec 7<>"/dev/tcp/127.0.0.1/$CONSOLE"
  printf '%s\r\n' "POST $STATS_PATH HTTP/1.1" 'Host: 127.0.0.1' 'Accept: text/event-stream' \
    'Content-Type: application/json' "Content-Length: ${#STATS_REQUEST}" '' >&7
  printf '%s' "$STATS_REQUEST" >&7
  for ((i = 0; i < CLIENTS; ++i)); do wait_for 10 test -s "$WORK/client-$i"; done
}

end_clients() {
  exec 7>&-
  kill "${CLIENT_PIDS[@]}"
  wait "${CLIENT_PIDS[@]}" || true
  CLIENT_PIDS=()
  rm -f "$WORK"/client-*
}

# recorded NAME: {NAME: MB/s} of one recording, which is deleted.
recorded() {
  local answer
  answer=$(tapectl_json record l0/c0 --source synth --blocks "$BLOCKS") || return 1
  tapectl recordings delete "$(jq -r .recording <<<"$answer")" >/dev/null
  jq -c --arg name "$1" '{($name): .mb_per_s}' <<<"$answer"
}

# one_round: alone, beside, beside, alone, so that a machine which gets faster or slower meanwhile favours neither.
one_round() {
  {
    recorded alone && begin_clients && recorded beside && recorded beside && end_clients && recorded alone
  } >"$WORK/parts.json" || return 1
  jq -cs 'def mean(name): map(.[name] // empty) | add / length;
    {alone_mb_per_s: mean("alone"), beside_mb_per_s: mean("beside"), beside_to_alone: (mean("beside") / mean("alone"))}' "$WORK/parts.json"
}

main() {
  local all
  need jq
  need curl
  services_begin
  trap services_end EXIT
  CONSOLE=$(free_port)
  # shellcheck disable=SC2034
  STORAGE_OPTIONS=(--console "127.0.0.1:$CONSOLE")
  start_storage
  start_worker
  tapectl lun create l0 --store memory --capacity "$((BLOCKS + 64))MiB" >/dev/null
  tapectl channel create l0/c0 --block-bytes 1MiB --sample-rate 1e9 >/dev/null
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $BLOCKS blocks, $CLIENTS clients" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "console", figures: with_entries(select(.key | contains("_to_") | not)),
    ratios: with_entries(select(.key | contains("_to_"))), $machine}' <<<"$all")" 'beside_to_alone >= 0.98'
}

main
