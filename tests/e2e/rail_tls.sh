#!/usr/bin/env bash
# Rails that the kernel encrypts: both nodes or neither, nothing of a recording is seen on the network, and without the option it is.
# Where the kernel has no TLS the node's refusal is tried alone; the virtual machine of tests/lab has it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"
need openssl

# Of what is recorded, again and again; eavesdrop.py looks for it.
SECRET=in-the-clear-0123456789abcdef-XY

refuses() {
  local said
  said=$("$TAPEDECK_BIN/$1" --listen 127.0.0.1:0 --rail-tls on "${@:3}" 2>&1) && fail "it starts: ${*:3}"
  [[ $said == *$2* ]] || fail "it does not say $2: $said"
}

# Rails are made in their order; the second can never encrypt.
kernel_has_tls() {
  local said
  said=$("$TAPEDECK_BIN/tapedeck-worker" --listen 127.0.0.1:0 --rail-tls on --rail r0=tcp:127.0.0.1 --rail r1=verbs:127.0.0.1 2>&1) &&
    fail "a rail over RDMA encrypts"
  [[ $said != *"modprobe tls"* ]] || return 1
  [[ $said == *"verbs cannot encrypt"*RAIL_TLS_UNUSABLE* ]] || fail "it does not say why: $said"
}

make_certificates() {
  CA=$WORK/ca
  authority "$CA"
  for name in storage worker root; do certificate "$CA" "$name" "URI:spiffe://lab/$name,IP:127.0.0.1"; done
  export TAPEDECK_TLS_CERT=$CA/root.pem TAPEDECK_TLS_KEY=$CA/root.key TAPEDECK_TLS_CA=$CA/ca.pem
}

# nodes STORAGE WORKER: both anew, with --rail-tls on or off.
nodes() {
  stop_service "${WORKER_PID:-0}"
  stop_service "${STORAGE_PID:-0}"
  STORAGE_OPTIONS=(--tls-cert "$CA/storage.pem" --tls-key "$CA/storage.key" --tls-ca "$CA/ca.pem" --rail-tls "$1")
  WORKER_OPTIONS=(--tls-cert "$CA/worker.pem" --tls-key "$CA/worker.key" --tls-ca "$CA/ca.pem" --rail-tls "$2")
  start_storage
  start_worker
}

record() { tapectl_json record l0/c0 --source "file:$WORK/secret.bin"; }

refused_mismatch() {
  local answer
  answer=$(record 2>/dev/null) && fail "one end alone encrypts, and it records"
  expect_error_in "$answer" FAILED_PRECONDITION RAIL_TLS_MISMATCH
}

is_ready() { [[ -s $WORK/eavesdropper ]]; }

# overheard: records and plays while somebody listens; HEARD is {bytes, found}.
overheard() {
  local pid answer
  : >"$WORK/eavesdropper"
  "$(dirname "${BASH_SOURCE[0]}")/eavesdrop.py" lo "$SECRET" >"$WORK/eavesdropper" &
  pid=$!
  wait_for 10 is_ready || fail "nobody can listen"
  answer=$(record)
  is_whole "$answer" "the recording"
  tapectl play "$(jq -r .recording <<<"$answer")" --sink "file:$WORK/back.bin" --replace >/dev/null
  cmp "$WORK/secret.bin" "$WORK/back.bin" || fail "it plays back differently"
  kill -TERM "$pid"
  wait "$pid"
  HEARD=$(tail -n 1 "$WORK/eavesdropper")
  json_is "$HEARD" ".bytes > 2 * $(stat -c %s "$WORK/secret.bin")" "the eavesdropper missed the blocks"
}

begin_test
refuses tapedeck-storage --tls-cert --state "$WORK/none" --rail r0=tcp:192.0.2.1
if ! kernel_has_tls; then
  refuses tapedeck-storage "modprobe tls" --state "$WORK/none" --rail r0=tcp:127.0.0.1
  refuses tapedeck-worker RAIL_TLS_UNUSABLE --rail r0=tcp:127.0.0.1
  skip "this kernel has no TLS (CONFIG_TLS): it was refused, and no more tried"
fi
((EUID == 0)) || skip "only root may listen to a network interface"
make_certificates
printf "$SECRET%.0s" {1..65536} >"$WORK/secret.bin"

nodes on off
tapectl lun create l0 --store memory --capacity 64MiB >/dev/null
tapectl channel create l0/c0 --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 >/dev/null
refused_mismatch
json_is "$(tapectl_json nodes)" '[.nodes[].rails[].tls] == [true, true, false, false]' "which rails encrypt"
nodes off on
refused_mismatch

nodes on on
overheard
json_is "$HEARD" ".found == 0" "of what encrypted rails carried something was seen"
grep -q 'rail ready.*tls=on' "$WORK/storage.log" || fail "the log does not say that the rails encrypt"
nodes off off
overheard
json_is "$HEARD" ".found > 20" "the eavesdropper sees nothing in clear either"
