#!/usr/bin/env bash
# Tapedeck's sessions beside perftest on the same RDMA devices, in turn: same op, block size and device, CRC off, into
# a sink that drops what it gets; then with CRC, and with a memory LUN behind it. Runs in the machine of tests/lab,
# whose soft-RoCE is emulated: only the ratios mean anything.
#   tests/bench/rdma.sh [--rounds N] [--blocks N] [--ops write,read,send] [--check]
# --check exits 1 if a ratio is below 0.95 or a side spends over 60,000 instructions on a block.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=3 BLOCKS=300 OPS=write,read,send CHECK=no INSIDE=no
ADDRESSES=(10.0.0.1 10.0.1.1)
DEVICES=(rx0 rx1)
ARGUMENTS=("$@")

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --ops) OPS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    --inside) INSIDE=yes && shift ;;
    *) sed -n '2,7s/^# //p' "$0" && exit 2 ;;
  esac
done

# cpus SIDE RAILS [CRC]: soft-RoCE works on the processor that posts, and a thread that the scheduler moves about takes
# that work along; with one rail each side (0 or 1), perftest's as ours, therefore keeps to one processor. CRC32C, which
# is another thread's, may use both.
cpus() { (($2 == 1)) && [[ ${3:-off} == off ]] && echo "$1" || echo 0,1; }

# perftest_mb_per_s OP RAILS: ib_OP_bw on the first RAILS devices at the same time, summed. It counts 2^20 bytes as a MB.
perftest_mb_per_s() {
  local i servers=() clients=() pid
  for ((i = 0; i < $2; i++)); do
    perftest "$1" "$i" "$(cpus 0 "$2")" >"$WORK/perftest-server-$i.log" 2>&1 &
    servers+=($!)
  done
  for ((i = 0; i < $2; i++)); do
    wait_for 20 listens $((18515 + i))
  done
  for ((i = 0; i < $2; i++)); do
    perftest "$1" "$i" "$(cpus 1 "$2")" "${ADDRESSES[i]}" >"$WORK/perftest-$i.log" 2>&1 &
    clients+=($!)
  done
  for pid in "${clients[@]}" "${servers[@]}"; do
    wait "$pid"
  done
  awk '$1 == 1048576 {sum += $4} END {print sum * 1.048576}' "$WORK"/perftest-[0-9].log
  rm "$WORK"/perftest-[0-9].log
}

# perftest OP RAIL CPUS [ADDRESS]
perftest() {
  taskset -c "$3" "ib_$1_bw" -d "${DEVICES[$2]}" -s 1048576 -n "$BLOCKS" -F -p $((18515 + $2)) "${@:4}"
}

# direction OP: the one in which the storage node drives; SEND moves as the seed's recorder does.
direction() { [[ $1 == write ]] && echo playback || echo record; }

rails() { printf 'verbs:%s,' "${ADDRESSES[@]:0:$1}" | sed 's/,$//'; }

# tapedeck OP RAILS CRC
tapedeck() {
  local port node specs=() i answer
  port=$(free_port)
  for ((i = 0; i < $2; i++)); do
    specs+=(--rail "r$i=verbs:${ADDRESSES[i]}")
  done
  taskset -c "$(cpus 0 "$2" "$3")" "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "127.0.0.1:$port" "${specs[@]}" \
    2>"$WORK/null-node.log" &
  node=$!
  wait_for 20 listens "$port"
  answer=$(taskset -c "$(cpus 1 "$2" "$3")" "$TAPEDECK_BIN/tapedeck-bench" rails --node "127.0.0.1:$port" \
    --rails "$(rails "$2")" --op "$1" --direction "$(direction "$1")" --blocks $((BLOCKS * $2)) --crc "$3" \
    2>"$WORK/bench.log") || tail -n 20 "$WORK/bench.log" "$WORK/null-node.log" >&2
  kill "$node"
  wait "$node" || true
  echo "$answer"
}

# one_round OP RAILS: one line of JSON.
one_round() {
  local peer off on
  peer=$(perftest_mb_per_s "$1" "$2")
  off=$(tapedeck "$1" "$2" off)
  on=$(tapedeck "$1" "$2" on)
  jq -cn --argjson peer "$peer" --argjson off "$off" --argjson on "$on" --arg name "$1_$2" '
    {($name + "_perftest_mb_per_s"): $peer, ($name + "_mb_per_s"): $off.mb_per_s,
     ($name + "_crc_mb_per_s"): $on.mb_per_s, ($name + "_wire_limit_mb_per_s"): $off.wire_limit_mb_per_s,
     ($name + "_of_wire_limit"): $off.of_wire_limit,
     ($name + "_ratio"): ($off.mb_per_s / $peer), ($name + "_crc_ratio"): ($on.mb_per_s / $peer)}'
}

# memory_lun_round RAILS: record and play with CRC and a memory LUN.
memory_lun_round() {
  tapedeck_bench transfer --rails "$(rails "$1")" --seconds 4 --lun-bytes $((256 << 20)) --slots 32 |
    jq -c --arg rails "$1" \
      '{("memory_lun_" + $rails + "_record_mb_per_s"): .record_mb_per_s,
        ("memory_lun_" + $rails + "_play_mb_per_s"): .play_mb_per_s}'
}

# crc_round: one core's rate of CRC32C. The instruction behind it is slow where the processor is emulated, and then it is
# what keeps the sessions with CRC below those without: both ends of a block share this machine's cores.
crc_round() { tapedeck_bench crc --blocks "$BLOCKS" | jq -c '{crc32c_one_core_mb_per_s: .mb_per_s}'; }

# instructions SIDE OP BLOCKS: that valgrind counts in one side (node or worker) of a session.
instructions() {
  local port node count=(valgrind --tool=callgrind "--callgrind-out-file=/dev/null") on_node=() on_worker=()
  [[ $1 == node ]] && on_node=("${count[@]}") || on_worker=("${count[@]}")
  port=$(free_port)
  "${on_node[@]}" "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "127.0.0.1:$port" \
    --rail "r0=verbs:${ADDRESSES[0]}" 2>"$WORK/count-node.log" &
  node=$!
  wait_for 60 listens "$port"
  "${on_worker[@]}" "$TAPEDECK_BIN/tapedeck-bench" rails --node "127.0.0.1:$port" --rails "$(rails 1)" --op "$2" \
    --direction "$(direction "$2")" --blocks "$3" --slots 16 --crc off >"$WORK/count.json" 2>"$WORK/count-worker.log" || true
  kill "$node"
  wait "$node" || true
  jq -se --argjson blocks "$3" '.[0].blocks == $blocks' "$WORK/count.json" >/dev/null || {
    echo "rdma: the session under valgrind did not move $3 blocks:" >&2
    tail -n 5 "$WORK/count-worker.log" "$WORK/count-node.log" >&2
    return 1
  }
  awk '/Collected/ {print $NF}' "$WORK/count-$1.log"
}

# per_block SIDE OP: the difference of a long and a short session, so that set-up does not count. Set-up varies by some
# two million instructions, hence so many blocks.
per_block() {
  local short long
  short=$(instructions "$1" "$2" 100)
  long=$(instructions "$1" "$2" 1100)
  jq -cn --argjson count $(((long - short) / 1000)) --arg name "$2_$1_instructions_per_block" '{($name): $count}'
}

inside() {
  local -a rounds
  local round count op all='{}' counted='{}'
  services_begin
  trap services_end EXIT
  for op in ${OPS//,/ }; do
    for count in 1 2; do
      rounds=()
      for ((round = 1; round <= ROUNDS; round++)); do
        rounds+=("$(one_round "$op" "$count")")
        echo "$op, $count rail(s), round $round of $ROUNDS: ${rounds[-1]}" >&2
      done
      all=$(jq -c --argjson new "$(of_rounds "${rounds[@]}")" '. + $new' <<<"$all")
    done
    counted=$(jq -cs add <<<"$counted $(per_block node "$op") $(per_block worker "$op")")
  done
  for count in 1 2; do
    all=$(jq -c --argjson new "$(of_rounds "$(memory_lun_round "$count")")" '. + $new' <<<"$all")
  done
  all=$(jq -c --argjson new "$(of_rounds "$(crc_round)")" '. + $new' <<<"$all")
  figure_table "$ROUNDS rounds of $BLOCKS blocks" "$all"
  jq -r 'to_entries[] | "\(.key)\t\(.value)"' <<<"$counted" | expand -t 42
  jq -c --argjson machine "$(machine)" --argjson counted "$counted" '{bench: "rdma",
    figures: (with_entries(select(.key | test("mb_per_s$|of_wire_limit$") and (test("perftest") | not))) + $counted),
    ratios: with_entries(select(.key | endswith("ratio"))),
    peers: with_entries(select(.key | test("perftest"))), $machine}' <<<"$all"
}

# outside: what the machine writes is gone with it, so its last line is concluded here.
outside() {
  local op side promises=()
  services_begin
  trap services_end EXIT
  "$TAPEDECK_ROOT/tests/lab/vm.sh" --timeout 3600 --memory 3072 -- "$0" --inside "${ARGUMENTS[@]}" | tee "$WORK/said" | sed '$d'
  for op in ${OPS//,/ }; do
    promises+=("${op}_1_ratio >= 0.95" "${op}_2_ratio >= 0.95")
    for side in node worker; do promises+=("${op}_${side}_instructions_per_block <= 60000"); done
  done
  conclude "$(tail -n 1 "$WORK/said")" "${promises[@]}"
}

if [[ $INSIDE == yes ]]; then inside; else outside; fi
