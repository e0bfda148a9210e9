#!/usr/bin/env bash
# The Python package against both nodes: ranges of samples by file and by rail, a recording that is followed while it is made, damage,
# a node that is killed or stopped, TLS, and its examples.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"
need protoc
need openssl
for package in numpy:python3-numpy grpc:python3-grpcio google.protobuf:python3-protobuf; do
  /usr/bin/python3 -c "import ${package%:*}" 2>/dev/null || skip "${package#*:} is not installed"
done
PACKAGE=$TAPEDECK_ROOT/services/python
export PYTHONPATH=$PACKAGE PYTHONDONTWRITEBYTECODE=1

client() { STORAGE_PID=$STORAGE_PID /usr/bin/python3 "$TAPEDECK_ROOT/tests/e2e/python_client.py" "$@"; }

example() {
  local said
  said=$(/usr/bin/python3 "$PACKAGE/examples/$1" "${@:2}" 2>&1) || fail "the example $1: $said"
  [[ -n $said ]] || fail "the example $1 says nothing"
  EXAMPLE=$said
}

examples() {
  local pid
  lun_with_channel posix ex/c cf32_le 64KiB
  tapectl record ex/c --source synth:seed=7 --blocks 64 >/dev/null
  CAPACITY=128MiB lun_with_channel memory mem/unused cf32_le 64KiB
  example list_and_read.py "$TAPEDECK_STORAGE" ex/c/latest
  example waterfall.py "$TAPEDECK_STORAGE" ex/c/latest "$WORK/waterfall.png"
  [[ $(head -c 8 "$WORK/waterfall.png" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || fail "no PNG: $EXAMPLE"
  example export_sigmf.py "$TAPEDECK_STORAGE" ex/c/latest "$WORK/exported"
  # A worker reads what the package wrote.
  tapectl record ex/c --source "file:$WORK/exported.sigmf-meta" >/dev/null || fail "the worker refuses the SigMF recording"
  example record_and_trigger.py "$TAPEDECK_STORAGE" "$TAPEDECK_WORKER" mem/triggered
  [[ $EXAMPLE == *"['seen']"* ]] || fail "no mark of the trigger: $EXAMPLE"
  tapectl channel create ex/live --block-bytes 1MiB --sample-rate 1e6 >/dev/null
  tapectl record ex/live --source synth --blocks 250 >/dev/null &
  pid=$!
  wait_for 10 live_has_blocks || fail "the recording does not start"
  example follow_live.py "$TAPEDECK_STORAGE" ex/live/latest
  [[ $EXAMPLE == *" 0 missing"*SEALED ]] || fail "not all was followed: $EXAMPLE"
  wait "$pid" || fail "the followed recording failed"
  echo "five examples ran"
}

live_has_blocks() { tapectl_json recordings show ex/live/latest | jq -e '.blocks > 0'; }

with_tls() {
  local name
  CA=$WORK/ca
  authority "$CA"
  certificate "$CA" storage URI:spiffe://lab/storage,IP:127.0.0.1
  for name in worker ann; do certificate "$CA" "$name" "URI:spiffe://lab/$name,IP:127.0.0.1"; done
  printf 'rules:\n  - {identities: ["spiffe://lab/*"], role: admin, resources: ["luns/*"]}\n' >"$WORK/policy.yaml"
  STORAGE_OPTIONS=(--tls-cert "$CA/storage.pem" --tls-key "$CA/storage.key" --tls-ca "$CA/ca.pem" --policy "$WORK/policy.yaml")
  start_storage
  export TAPEDECK_TLS_CERT=$CA/ann.pem TAPEDECK_TLS_KEY=$CA/ann.key TAPEDECK_TLS_CA=$CA/ca.pem
  client tls
}

begin_test
export WORK
start_storage
start_worker
client memory ranges times follow stop moved damage
examples
client stopped
tapectl lun create l0 --store posix --member "$(mkdir "$WORK/ann" && echo "$WORK/ann")" >/dev/null
tapectl channel create l0/ann --block-bytes 64KiB --sample-rate 1e6 >/dev/null
tapectl record l0/ann --source synth --blocks 8 >/dev/null
client killed
with_tls
