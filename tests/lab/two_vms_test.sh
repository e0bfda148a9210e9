#!/usr/bin/env bash
# Two machines exchange real RoCEv2 packets over both ports; a pulled cable and a power cut end in an error on the
# other side, and a machine that comes back is reached again.
# shellcheck source=tests/lab/two_vms.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_vms.sh"
set -Eeuo pipefail

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  exit 1
}

# rping_over N: b reaches a over port N.
rping_over() {
  local server
  start_on a rping -s -a "10.0.$1.1" -C 3
  server=$JOB
  guest a await_listener rdma 7174
  on b timeout $((30 * SLOWNESS)) rping -c -a "10.0.$1.1" -C 3 >/dev/null || fail "rping over port $1"
  end_of "$server" || fail "the server of rping over port $1: $(<"$server/stderr")"
}

# start_writing: b writes to a over port 0 for a minute; WRITER is the job. With finite retries: perftest's own seven
# are endless on soft-RoCE.
start_writing() {
  local before
  before=$(guest b rdma_counter 0 sent_pkts)
  start_on a ib_write_bw -R -d rx0 -s 65536 -D 60 -F
  guest a await_listener rdma 18515
  start_on b ib_write_bw -R -d rx0 -s 65536 -D 60 -F --retry_count 6 10.0.0.1
  WRITER=$JOB
  until (($(guest b rdma_counter 0 sent_pkts) > before + 1000)); do
    [[ ! -e $WRITER/status ]] || fail "ib_write_bw ended too early: $(<"$WRITER/stdout") $(<"$WRITER/stderr")"
    sleep 0.2
  done
}

# expect_error WHAT: the writer fails within 30 s. librdmacm gives a queue pair a timeout of 2 s, and it retries six
# times.
expect_error() {
  local status=0 from=$SECONDS
  end_of "$WRITER" 30 || status=$?
  ((status != 0 && status != 124)) || fail "$1: the writer's status is $status"
  echo "$1: the writer failed after $((SECONDS - from)) s: $(grep -ih 'fail\|error' "$WRITER"/std* | head -n 1)"
}

bandwidth() {
  start_on a ib_write_bw -d rx0 -s 1048576 -n 16 -F
  guest a await_listener tcp 18515
  on b timeout $((30 * SLOWNESS)) ib_write_bw -d rx0 -s 1048576 -n 16 -F 10.9.0.1 | awk '$1 == 1048576 {print $4}'
}

begin_vms --timeout 1200
echo "both machines are up after $SECONDS s"
rping_over 0
rping_over 1
echo "between two machines: ib_write_bw $(bandwidth) MB/s"

vm_link a 1 off
guest a await_state 1 DOWN || fail "the cable of port 1 is out and it is $(guest a rdma_state 1)"
vm_link a 1 on
guest a await_state 1 ACTIVE || fail "the cable of port 1 is in and it is $(guest a rdma_state 1)"
rping_over 1

start_writing
vm_cut a
expect_error "power cut"
vm_boot a
rping_over 0
