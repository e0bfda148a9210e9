#!/usr/bin/env bash
# A kernel answers ordinary TCP clients with ranges of a recording: the file of a LUN lies in memory of the device, and what comes
# over the network is what tapectl plays. On the host threads stand for the kernel's blocks.
#   kernel_files.sh host|cuda
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
SERVER=

# need_device DEVICE: serves this script for a moment.
need_device() {
  local status=0 said
  said=$("$TAPEDECK_BIN/gpu_worker_file_server" "$1" "${BASH_SOURCE[0]}" 1 </dev/null 2>&1) || status=$?
  ((status != 77)) || skip "$said"
  ((status == 0)) || fail "the file server does not start: $said"
}

# serve DEVICE FILE: sets SERVER and PORT; SERVER_INPUT is open for as long as it is to serve.
serve() {
  mkfifo "$WORK/input"
  "$TAPEDECK_BIN/gpu_worker_file_server" "$1" "$2" 120 <"$WORK/input" >"$WORK/served.txt" 2>"$WORK/server.log" &
  SERVER=$!
  exec {SERVER_INPUT}>"$WORK/input"
  wait_for 60 serves_or_ended
  PORT=$(awk '/^port / {print $2}' "$WORK/served.txt")
  [[ -n $PORT ]] || fail "the file server did not start: $(cat "$WORK/server.log")"
}

serves_or_ended() { grep -q '^port ' "$WORK/served.txt" || ! kill -0 "$SERVER"; }

begin_test
need python3
need_device "$1"
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 1MiB
answer=$(tapectl_json record l0/c0 --source synth --blocks 24)
is_whole "$answer" recording
tapectl play l0/c0/latest --sink "file:$WORK/played.bin" >/dev/null
mapfile -t files < <(find "$WORK/member-l0" -name data.sigmf-data)
((${#files[@]} == 1)) || fail "not one file of the recording: ${files[*]}"

serve "$1" "${files[0]}"
"$TAPEDECK_ROOT/tests/e2e/kernel_files.py" "$PORT" "$WORK/played.bin" "$(scaled 60)" ||
  fail "what the kernel answers is not the recording"
exec {SERVER_INPUT}>&-
wait "$SERVER" || fail "the file server ended with an error: $(cat "$WORK/server.log")"
grep -q "^connections 3 answers $((3 * ($(scaled 60) + 4)))$" "$WORK/served.txt" || fail "counted: $(cat "$WORK/served.txt")"
