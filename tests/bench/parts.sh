#!/usr/bin/env bash
# One recording over several storage nodes: its rate over two and four of them against one, and over three of which one is
# throttled to a third, against the sum of what they can. All of it on this machine's loopback, into memory: nodes, worker and
# network share its processors. So each node's rail is paced by the kernel (tc) to a rate that the machine can carry
# for all of them together, in a network of the bench's own; without the right to that, or with --free, nothing is paced, and what
# the processors leave is what is measured.
# Options: --seconds S (of each run: 4), --rate MBIT (of a node: 400), --free, --check, --record.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SECONDS_EACH=4 RATE=400 CHECK=no PACED=yes
ARGUMENTS=("$@")
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) SECONDS_EACH=$2 && shift 2 ;;
    --rate) RATE=$2 && shift 2 ;;
    --free) PACED=no && shift ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,/^source/{/^source/!s/^# //p}' "$0" && exit 2 ;;
  esac
done
check_seconds "$SECONDS_EACH"
need jq

# A network of the bench's own, where pacing disturbs nobody.
if [[ $PACED == yes && ${TAPEDECK_PRIVATE_NETWORK:-} != yes ]]; then
  need unshare
  need tc
  for flags in -n -rn; do
    if unshare "$flags" true 2>/dev/null; then
      options=()
      [[ $RECORD == no ]] || options+=(--record)
      TAPEDECK_PRIVATE_NETWORK=yes exec unshare "$flags" "$0" "${ARGUMENTS[@]}" "${options[@]}"
    fi
  done
  PACED=no
fi

NODES=4
ADDRESSES=()
services_begin
trap services_end EXIT

# pace I MBIT: what goes to the rail of that node.
pace() {
  tc class replace dev lo parent 1: classid "1:1$1" htb rate "$2mbit" ceil "$2mbit" burst 256k cburst 256k quantum 65536
}

if [[ $PACED == yes ]]; then
  ip link set lo up
  ip link set lo mtu 65536
  tc qdisc add dev lo root handle 1: htb default 99
  tc class add dev lo parent 1: classid 1:99 htb rate 100gbit quantum 65536
  for ((i = 0; i < NODES; ++i)); do
    pace "$i" "$RATE"
    tc filter add dev lo parent 1: protocol ip prio 1 u32 match ip dst "127.0.1.$((i + 1))/32" flowid "1:1$i"
  done
fi

for ((i = 0; i < NODES; ++i)); do
  port=$(free_port)
  ADDRESSES[i]=127.0.0.1:$port
  start_service "$WORK/storage$i.log" "$port" "$TAPEDECK_BIN/tapedeck-storage" --listen "${ADDRESSES[i]}" \
    --state "$WORK/state$i" --rail "r0=tcp:127.0.1.$((i + 1))"
  tapectl --timeout 60s --storage "${ADDRESSES[i]}" lun create m --store memory --capacity 512MiB --full-policy stop >/dev/null
  tapectl --storage "${ADDRESSES[i]}" channel create m/c --datatype cf32_le --block-bytes 256KiB --sample-rate 1e9 >/dev/null
done
WORKER_RAILS=(--rail r0=tcp:127.0.0.1)
start_worker

# rate_over NODE...: MB/s of a recording over these nodes for the whole run. Its blocks are made beforehand.
rate_over() {
  local storage='' node blocks answer
  for node in "$@"; do storage+=${storage:+,}${ADDRESSES[node]}; done
  # As many as the nodes would take in the time, by what they are paced to, and as their memory holds.
  blocks=$(($# * RATE * SECONDS_EACH * 1000000 / 8 / 262144))
  ((blocks <= $# * 1500)) || blocks=$(($# * 1500))
  answer=$(tapectl_json --storage "$storage" record m/c --source "${SOURCE:-synth:noise=0}" --blocks "$blocks")
  tapectl --storage "$storage" recordings delete m/c/latest >/dev/null
  jq .mb_per_s <<<"$answer"
}

one=$(rate_over 0)
two=$(rate_over 0 1)
four=$(rate_over 0 1 2 3)
result=$(jq -cn --argjson machine "$(machine)" --argjson one "$one" --argjson two "$two" --argjson four "$four" \
  --arg paced "$PACED" --argjson mbit "$RATE" \
  '{bench: "parts", $machine, paced: ($paced == "yes"), node_mbit: $mbit,
    figures: {one_mb_per_s: $one, two_mb_per_s: $two, four_mb_per_s: $four},
    ratios: {two_to_one: ($two / $one), four_to_one: ($four / $one)}}')
promises=()
if [[ $PACED == yes ]]; then
  pace 2 $((RATE / 3))
  third=$(rate_over 2)
  three=$(rate_over 0 1 2)
  result=$(jq -c --argjson third "$third" --argjson three "$three" \
    '.figures += {throttled_mb_per_s: $third, three_mb_per_s: $three} |
     .ratios.three_to_sum = $three / (2 * .figures.one_mb_per_s + $third)' <<<"$result")
  promises=("two_to_one >= 1.8" "four_to_one >= 3.6" "three_to_sum >= 0.9")
fi
cores=$(nproc)
jq -r --argjson cores "$cores" 'def two: . * 100 | round / 100; "one node: \(.figures.one_mb_per_s | round) MB/s
two: \(.figures.two_mb_per_s | round) MB/s, \(.ratios.two_to_one | two) of one
four: \(.figures.four_mb_per_s | round) MB/s, \(.ratios.four_to_one | two) of one" +
  (if .ratios.three_to_sum then "
throttled to a third: \(.figures.throttled_mb_per_s | round) MB/s
two and that one: \(.figures.three_mb_per_s | round) MB/s, \(.ratios.three_to_sum | two) of their sum" else "" end) +
  "\nall on \($cores) processors; " + (if .paced then "a node is paced to \(.node_mbit) Mbit/s" else "nothing is paced: the processors are the limit" end)' \
  <<<"$result"
conclude "$result" "${promises[@]}"
