#!/usr/bin/env bash
# The examples of the Python package.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need protoc
for package in numpy:python3-numpy grpc:python3-grpcio google.protobuf:python3-protobuf; do
  /usr/bin/python3 -c "import ${package%:*}" 2>/dev/null || skip "${package#*:} is not installed"
done
EXAMPLES=$TAPEDECK_ROOT/services/python/examples
export PYTHONPATH=$TAPEDECK_ROOT/services/python PYTHONDONTWRITEBYTECODE=1

example() {
  local said
  said=$(/usr/bin/python3 "$EXAMPLES/$1" "${@:2}" 2>&1) || fail "the example $1: $said"
  [[ -n $said ]] || fail "the example $1 says nothing"
  EXAMPLE=$said
}

is_png() { [[ $(head -c 8 "$1" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || fail "no PNG: $EXAMPLE"; }

reads_and_follows() {
  local pid
  lun_with_channel posix ex/c cf32_le 64KiB
  tapectl record ex/c --source synth:seed=7 --blocks 64 >/dev/null
  CAPACITY=128MiB lun_with_channel memory mem/unused cf32_le 64KiB
  example list_and_read.py "$TAPEDECK_STORAGE" ex/c/latest
  example waterfall.py "$TAPEDECK_STORAGE" ex/c/latest "$WORK/waterfall.png"
  is_png "$WORK/waterfall.png"
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
}

live_has_blocks() { tapectl_json recordings show ex/live/latest | jq -e '.blocks > 0'; }

begin_test
start_storage
start_worker
reads_and_follows
echo "five examples ran"
