#!/usr/bin/env bash
# One clock: of a recording of a file, of a live stream, of a trigger, of a ring and of a program with the library, everything that
# tells a time tells the same one of the same sample. A start that nobody knows is unknown everywhere.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${TAPEDECK_BIN%/bin}

of_a_file() {
  head -c 300000 /dev/urandom >"$WORK/capture.bin"
  tapectl_json record l0/c0 --source "file:$WORK/capture.bin" | tail -n 1 | jq -r .recording
}

of_an_import() {
  tapectl_json recordings import l0/c0 "$WORK/capture.bin" --format raw --start 2026-02-03T04:05:06.25Z | jq -r .recording
}

# of_a_stream RECORDING [OPTION...]: which is sent as packets of VITA 49, with the times of its samples.
of_a_stream() {
  local RECORD_OPTIONS=(--blocks 4) CHANNEL=l0/live
  begin_ingest udp=127.0.0.1:0,packets=vita49
  tapectl play "$1" "${@:2}" --sink "udp:address=127.0.0.1:$PORT,packets=vita49" --rate recorded >/dev/null
  end_ingest
  NAME=$(jq -r .recording <<<"$ANSWER")
}

of_a_trigger() {
  local seconds
  seconds=$(slow 2)
  start_job record seen/t --source synth:noise=0 --slots 8 --duration "$((seconds < 8 ? seconds : 8))s"
  NAME=$(tapectl_json trigger seen/t --label seen | jq -r '.captures[0].recording')
  end_job
  ((JOB_STATUS == 0)) || fail "the stream failed: $ANSWER"
}

of_a_ring() {
  tapectl record ring/c --source synth --blocks 60 >/dev/null
  tapectl_json recordings list --segments |
    jq -r '[.recordings[] | select((.name | startswith("luns/ring/")) and .segment == 1)][0].name'
}

of_a_program() {
  [[ -e $BUILD/gpu_worker/api/libtapedeck.so ]] || skip "this build has no libtapedeck"
  "${CXX:-c++}" -std=c++17 -I"$TAPEDECK_ROOT/gpu_worker/api/include" "$TAPEDECK_ROOT/gpu_worker/api/examples/record.cc" \
    -L"$BUILD/gpu_worker/api" -ltapedeck -Wl,-rpath,"$BUILD/gpu_worker/api" -o "$WORK/record" 2>"$WORK/program.log" ||
    fail "the example does not build: $(tail -n 5 "$WORK/program.log")"
  "$WORK/record" "$TAPEDECK_STORAGE" r0=tcp:127.0.0.1 l0/gpu 20
}

# without_a_time: a SigMF recording that does not say when it was captured.
without_a_time() {
  local global='{"core:datatype": "cu8", "core:version": "1.2.5", "core:sample_rate": 2e6}'
  echo "{\"global\": $global, \"captures\": [{\"core:sample_start\": 0$1}], \"annotations\": []}" >"$WORK/$2.sigmf-meta"
  cp "$WORK/capture.bin" "$WORK/$2.sigmf-data"
  tapectl_json recordings import l0/c0 "$WORK/$2.sigmf-meta" --format sigmf
}

begin_test
need python3
need protoc
for package in numpy grpc google.protobuf; do
  /usr/bin/python3 -c "import $package" 2>/dev/null || skip "no Python package $package"
done
CONSOLE_PORT=$(free_port)
STORAGE_OPTIONS=(--console "127.0.0.1:$CONSOLE_PORT")
WORKER_OPTIONS=(--send-allow "127.0.0.1:*")
if ! start_storage; then
  ! grep -q "built without libmicrohttpd" "$WORK/storage.log" || skip "this build is without libmicrohttpd"
  fail "the storage node does not start"
fi
start_worker
lun_of_kind posix l0 --capacity 1GiB
tapectl channel create l0/c0 --datatype cu8 --block-bytes 64KiB --sample-rate 2e6 >/dev/null
tapectl channel create l0/live --datatype cu8 --block-bytes 64KiB --sample-rate 2e6 >/dev/null
tapectl channel create l0/gpu --block-bytes 64KiB --sample-rate 3e6 >/dev/null
lun_of_kind memory seen --capacity 64MiB
tapectl channel create seen/t --block-bytes 64KiB --sample-rate 1e6 --commit received --pre-trigger 50ms \
  --post-trigger 20ms >/dev/null
lun_of_kind posix ring --capacity 64MiB --full-policy ring
tapectl channel create ring/c --block-bytes 64KiB --sample-rate 1e6 >/dev/null

FILE=$(of_a_file)
IMPORT=$(of_an_import)
of_a_stream "$IMPORT" && LIVE=$NAME
of_a_stream "$IMPORT" --from-sample 12345 && LATER=$NAME
of_a_trigger && SEEN=$NAME
RING=$(of_a_ring)
PROGRAM=$(of_a_program)
UNDATED=$(without_a_time '' undated)
EPOCH=$(without_a_time ', "core:datetime": "1970-01-01T00:00:00Z"' epoch)
LOCAL=$(without_a_time ', "core:datetime": "2024-01-02T03:04:05.25"' local)
json_is "$LOCAL" '[.notes[] | select(.code == "TIME_WITHOUT_ZONE")] | length == 1' "a time without a zone"
# The stream has the times of the recording that was sent, whose sample 12345 is 6172500 ns behind its first.
START=$(date -u -d "$(tapectl_json recordings show "$IMPORT" | jq -r .start_time)" +%s%N)
name_of() { jq -r .recording <<<"$1"; }
jq -n --arg start "$START" --arg later_start "$((START + 6172500))" --arg later "$LATER" \
  --arg imported "$IMPORT" --arg file "$FILE" --arg live "$LIVE" --arg seen "$SEEN" --arg ring "$RING" --arg program "$PROGRAM" \
  --arg undated "$(name_of "$UNDATED")" --arg epoch "$(name_of "$EPOCH")" --arg local "$(name_of "$LOCAL")" '{
  "a file": {name: $file, unknown: true}, "an import": {name: $imported, start: $start},
  "a live stream": {name: $live, start: $start}, "a stream from within": {name: $later, start: $later_start}, "a trigger": {name: $seen},
  "a ring": {name: $ring, segment: 1}, "a program": {name: $program}, "an undated file": {name: $undated, unknown: true},
  "a file of 1970": {name: $epoch, start: "0"},
  "a file without a zone": {name: $local, start: "1704164645250000000"}}' >"$WORK/asked.json"
export TAPEDECK_BIN CONSOLE=http://127.0.0.1:$CONSOLE_PORT PYTHONPATH=$TAPEDECK_ROOT/services/python PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$HERE/sample_times.py" "$WORK" <"$WORK/asked.json" || fail "times differ"
