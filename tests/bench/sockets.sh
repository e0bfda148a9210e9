#!/usr/bin/env bash
# TCP of kernels between two processes: what a kernel sends and takes beside the same rings and proxy driven by a thread of the CPU,
# and beside an ordinary program; how long an echo of 64 bytes takes, one by one, and messages of 128 bytes, 20 at a time; and an
# echo after a quiet while, when the proxy naps. The other end is always an ordinary program. Without a GPU a thread stands for the
# kernel, too, as is said.
#   tests/bench/sockets.sh [--device cuda|host] [--rounds N] [--messages N] [--check]     --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DEVICE=auto CHECK=no
MESSAGES=4000 # of 1 MiB
ECHOES=10000
QUIET_US=5000 QUIET_ECHOES=100
BENCH=$TAPEDECK_BIN/gpu_worker_socket_bench
PORT='' SERVER=''

while [[ $# -gt 0 ]]; do
  case $1 in
    --device) DEVICE=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --messages) MESSAGES=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

says_port_or_ended() { grep -q '^port ' "$WORK/far.txt" || ! kill -0 "$SERVER"; }

# far_end cuda|host|plain: sets PORT and SERVER; near_end_over ends it.
far_end() {
  rm -f "$WORK/input" "$WORK/far.txt"
  mkfifo "$WORK/input"
  timeout 260 "$BENCH" serve "$1" 230 <"$WORK/input" >"$WORK/far.txt" 2>"$WORK/far.log" &
  SERVER=$!
  exec {INPUT}>"$WORK/input"
  wait_for 60 says_port_or_ended
  PORT=$(awk '/^port/ {print $2}' "$WORK/far.txt")
  [[ -n $PORT ]] && return
  exec {INPUT}>&-
  wait "$SERVER"
}

near_end_over() {
  exec {INPUT}>&-
  wait "$SERVER"
}

# ask WORK BYTES MESSAGES...: the line of JSON.
ask() { timeout 120 "$BENCH" ask "$PORT" "$@"; }

# figures_of NAME DEVICE: {"NAME_...": ...} of a far end.
figures_of() {
  local take give echo batch quiet
  far_end "$2" || {
    echo "bench: $2: $(tail -n 1 "$WORK/far.log")" >&2
    return 1
  }
  ask take 1048576 $((MESSAGES / 10 + 1)) >/dev/null &&
    take=$(ask take 1048576 "$MESSAGES") &&
    give=$(ask give 1048576 "$MESSAGES") &&
    echo=$(ask echo 64 "$ECHOES") &&
    batch=$(ask echo 128 $((ECHOES * 20)) 20) &&
    quiet=$(ask echo 64 "$QUIET_ECHOES" 1 "$QUIET_US") &&
    near_end_over || return 1
  jq -cn --arg name "$1" --argjson take "$take" --argjson give "$give" --argjson echo "$echo" --argjson batch "$batch" \
    --argjson quiet "$quiet" '{takes_mb_per_s: $take.mb_per_s, gives_mb_per_s: $give.mb_per_s, echo_p50_us: $echo.p50_us,
    echo_p99_us: $echo.p99_us, ping_pong_us: $batch.message_us, quiet_echo_p50_us: $quiet.p50_us} |
    with_entries(.key |= $name + "_" + .)'
}

one_round() {
  { figures_of kernel "$DEVICE" && figures_of thread host && figures_of plain plain; } >"$WORK/round.json" || return 1
  jq -cs 'add | . + {takes_to_thread: (.kernel_takes_mb_per_s / .thread_takes_mb_per_s),
    gives_to_thread: (.kernel_gives_mb_per_s / .thread_gives_mb_per_s),
    takes_to_plain: (.kernel_takes_mb_per_s / .plain_takes_mb_per_s),
    gives_to_plain: (.kernel_gives_mb_per_s / .plain_gives_mb_per_s),
    echo_to_plain: (.kernel_echo_p50_us / .plain_echo_p50_us),
    ping_pong_to_plain: (.kernel_ping_pong_us / .plain_ping_pong_us)}' "$WORK/round.json"
}

# choose_device: what stands for the kernel.
choose_device() {
  [[ $DEVICE == auto ]] || return 0
  DEVICE=host
  if far_end cuda; then
    near_end_over
    DEVICE=cuda
  else
    echo "bench: a thread stands for the kernel: $(tail -n 1 "$WORK/far.log")" >&2
  fi
}

# promises: those of a kernel; a thread beside itself promises nothing.
promises() {
  [[ $DEVICE == cuda ]] || return 0
  printf '%s\n' 'takes_to_thread >= 0.8' 'gives_to_thread >= 0.8' 'echo_to_plain <= 2.5'
}

main() {
  local all promised
  need jq
  services_begin
  trap services_end EXIT
  choose_device
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds, $DEVICE" "$all"
  mapfile -t promised < <(promises)
  conclude "$(jq -c --argjson machine "$(machine)" --arg device "$DEVICE" '
    def peer: test("^plain"); def ratio: test("_to_");
    {bench: "sockets", $device, figures: with_entries(select(.key | (ratio or peer) | not)),
    ratios: with_entries(select(.key | ratio)), peers: with_entries(select(.key | peer)), $machine}' <<<"$all")" "${promised[@]}"
}

main
