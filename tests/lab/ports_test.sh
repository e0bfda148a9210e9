#!/usr/bin/env bash
# Runs in the virtual machine: two RDMA ports are there, carry data each for itself and, as a pair, over a wire that
# can be disturbed; a port that goes down or away says so.
# shellcheck source=tests/lab/guest.sh
source "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  exit 1
}

# write_bandwidth SERVER_DEVICE CLIENT_DEVICE ADDRESS: MB/s of 16 RDMA writes of 1 MiB.
write_bandwidth() {
  local server result
  ib_write_bw -d "$1" -s 1048576 -n 16 -F >/tmp/server.log 2>&1 &
  server=$!
  await_listener tcp 18515
  result=$(timeout $((30 * $(slowness))) ib_write_bw -d "$2" -s 1048576 -n 16 -F "$3") || fail "ib_write_bw $1 $2: $result $(cat /tmp/server.log)"
  wait "$server"
  awk '$1 == 1048576 {print $4}' <<<"$result"
}

ports=$(ibv_devinfo)
[[ $(grep -c 'PORT_ACTIVE' <<<"$ports") == 2 ]] || fail "not two active ports: $ports"
[[ $(grep -c 'active_mtu:.*4096' <<<"$ports") == 2 ]] || fail "not the path MTU 4096: $ports"

for port in 0 1; do
  rping -s -a "10.0.$port.1" -C 3 >/dev/null 2>&1 &
  await_listener rdma 7174
  timeout $((30 * $(slowness))) rping -c -a "10.0.$port.1" -C 3 >/dev/null 2>&1 || fail "rping over 10.0.$port.1"
  echo "rx$port: ib_write_bw $(write_bandwidth "rx$port" "rx$port" "10.0.$port.1") MB/s"
done

add_peer_port 0
echo "rx0 to ry0: ib_write_bw $(write_bandwidth ry0 rx0 127.0.0.1) MB/s"
disturb 0 loss 2%
before=$(rdma_counter 0 completer_retry_err)
echo "with 2 % loss: ib_write_bw $(write_bandwidth ry0 rx0 127.0.0.1) MB/s"
(($(rdma_counter 0 completer_retry_err) > before)) || fail "packets are lost on p0, and rx0 has counted no retry"
undisturb 0

port_down 1
await_state 1 DOWN || fail "p1 is down and rx1 is $(rdma_state 1)"
port_up 1
await_state 1 ACTIVE || fail "p1 is up and rx1 is $(rdma_state 1)"

rping -s -a 10.0.1.1 >/tmp/removed.log 2>&1 &
await_listener rdma 7174
remove_port 1
deadline=$((SECONDS + 10 * $(slowness)))
until grep -q 'device removal' /tmp/removed.log; do
  ((SECONDS < deadline)) || fail "rping was not told that its device went: $(cat /tmp/removed.log)"
  sleep 0.1
done
