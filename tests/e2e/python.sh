#!/usr/bin/env bash
# The Python package against both nodes: ranges of samples by file and by rail, a recording that is followed while it is made, damage,
# a node that is killed or stopped, and TLS. Its examples: examples.sh.
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
client stopped
tapectl lun create l0 --store posix --member "$(mkdir "$WORK/ann" && echo "$WORK/ann")" >/dev/null
tapectl channel create l0/ann --block-bytes 64KiB --sample-rate 1e6 >/dev/null
tapectl record l0/ann --source synth --blocks 8 >/dev/null
client killed
with_tls
