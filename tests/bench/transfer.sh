#!/usr/bin/env bash
# How fast two TCP rails move 1 MiB blocks between memory and a memory LUN, CRC on, beside iperf3 on the same two
# addresses and ucx_perftest over TCP, in turn.
#   tests/bench/transfer.sh [--rounds N] [--seconds N] [--check]
# --check exits 1 below 0.80 of iperf3 (recording or playing) or below twice ucx_perftest's tag_bw.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=4 CHECK=no
RAILS=(127.0.0.1 127.0.0.2)

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# iperf3_mb_per_s: the sum over both addresses.
iperf3_mb_per_s() {
  iperf3_on "${RAILS[@]}"
  jq -s '[.[].end.sum_received.bits_per_second] | add / 8e6' "$WORK"/iperf3-*.json
}

# ucx_mb_per_s TEST: 1 MiB messages. UCX counts 2^20 bytes as a MB.
ucx_mb_per_s() {
  local port server
  port=$(free_port)
  UCX_TLS=tcp,self ucx_perftest -p "$port" >"$WORK/ucx-server.log" 2>&1 &
  server=$!
  wait_for 5 listens "$port"
  UCX_TLS=tcp,self timeout 60 ucx_perftest 127.0.0.1 -p "$port" -t "$1" -s 1048576 -n 1500 -w 50 -f -v \
    >"$WORK/ucx.csv" 2>"$WORK/ucx.log"
  wait "$server"
  tail -n 1 "$WORK/ucx.csv" | awk -F , '{print $6 * 1.048576}'
}

tapedeck_rates() {
  tapedeck_bench transfer --json --seconds "$DURATION" --rails "$(IFS=, && echo "${RAILS[*]}")" --block-bytes 1MiB
}

# one_round: one line of JSON with every figure and the ratios of this round.
one_round() {
  local iperf3 tapedeck tag put
  iperf3=$(iperf3_mb_per_s)
  tapedeck=$(tapedeck_rates)
  tag=$(ucx_mb_per_s tag_bw)
  put=$(ucx_mb_per_s ucp_put_bw)
  jq -c --argjson iperf3 "$iperf3" --argjson tag "$tag" --argjson put "$put" '
    {record_mb_per_s, play_mb_per_s, iperf3_mb_per_s: $iperf3, ucx_tag_mb_per_s: $tag, ucx_put_mb_per_s: $put,
     record_to_iperf3: (.record_mb_per_s / $iperf3), play_to_iperf3: (.play_mb_per_s / $iperf3),
     record_to_ucx_tag: (.record_mb_per_s / $tag), play_to_ucx_tag: (.play_mb_per_s / $tag)}' <<<"$tapedeck"
}

main() {
  local all
  need iperf3
  need ucx_perftest
  need jq
  services_begin
  trap services_end EXIT
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "transfer",
    figures: with_entries(select(.key | test("^(record|play)_mb"))),
    ratios: with_entries(select(.key | test("_to_"))),
    peers: with_entries(select(.key | test("^(iperf3|ucx)"))), $machine}' <<<"$all")" \
    'record_to_iperf3 >= 0.8' 'play_to_iperf3 >= 0.8' 'record_to_ucx_tag >= 2' 'play_to_ucx_tag >= 2'
}

main
