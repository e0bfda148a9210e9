#!/usr/bin/env bash
# A playback that is refused, fails or is cancelled leaves its target as it was, and nothing beside it. A worker that was given
# directories reads and writes nothing elsewhere, and calls or sends to nobody else than it may.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# expect_untouched WHAT: the target is what it was before, alone in its folder.
expect_untouched() {
  [[ $(cat "$WORK/out/copy") == precious ]] || fail "$1: the target was changed"
  [[ $(ls "$WORK/out") == copy ]] || fail "$1: left $(ls "$WORK/out")"
}

refused() {
  local answer
  answer=$(tapectl_json play "$recording" --sink "file:$WORK/out/copy" 2>&1) && fail "an existing file was replaced unasked"
  expect_error_in "$answer" ALREADY_EXISTS FILE_EXISTS
  expect_untouched "an existing target"
  answer=$(tapectl_json play l0/c0/none --sink "file:$WORK/out/copy" --replace 2>&1) && fail "no such recording was played"
  expect_untouched "an unknown recording"
  # The node refuses this session after the worker has made its sink.
  answer=$(tapectl_json play "$growing" --sink "file:$WORK/out/copy" --replace 2>&1) && fail "a growing recording was played"
  expect_error_in "$answer" FAILED_PRECONDITION RECORDING_BUSY
  expect_untouched "a session that the node refused"
  mkfifo "$WORK/fifo"
  answer=$(timeout 10 "$TAPEDECK_BIN/tapectl" --output json play "$recording" --sink "file:$WORK/fifo" --replace 2>&1) && fail "a FIFO was written"
  expect_error_in "$answer" INVALID_ARGUMENT FILE_INVALID
}

has_part() { compgen -G "$WORK/out/copy.part-*"; }
no_part() { ! has_part; }

cancelled() {
  tapectl play "$growing" --follow --sink "file:$WORK/out/copy" --replace >/dev/null 2>"$WORK/play.log" &
  local player=$!
  wait_for 10 has_part || fail "the playback did not begin: $(cat "$WORK/play.log")"
  tapectl jobs cancel "$(job .name)" >/dev/null
  wait "$player" && fail "a cancelled playback succeeded"
  wait_for 5 no_part || fail "a cancelled playback left its part"
  expect_untouched "a cancelled playback"
}

replaced() {
  tapectl play "$recording" --sink "file:$WORK/out/copy" --replace >/dev/null
  cmp "$WORK/samples.bin" "$WORK/out/copy" || fail "what came back differs"
  [[ $(ls "$WORK/out") == copy ]] || fail "a playback left $(ls "$WORK/out")"
}

# as_the_line_says: samples, loops, rate and time reach the worker. What that comes to is the matter of tests/site.
as_the_line_says() {
  local answer
  answer=$(tapectl_json play "$recording" --sink "file:$WORK/out/copy" --replace --from-sample 1000 --to-sample 5000)
  json_is "$answer" '.timing.samples == 4000' "a range"
  cmp <(tail -c +2001 "$WORK/samples.bin" | head -c 8000) "$WORK/out/copy" || fail "other samples than were asked for"
  answer=$(tapectl_json play "$recording" --sink null --rate 1000 --loop --from-sample 100 --to-sample 200 --loop-count 7)
  json_is "$answer" '.timing.turns == 7 and .timing.samples == 700' "a loop"
  answer=$(tapectl_json play "$recording" --sink null --rate 8 --at "$(date -u -d '+1 second' +%FT%T.%NZ)")
  json_is "$answer" '.timing.after_at_s >= 0 and .lost_blocks == 0' "a time"
  tapectl play "$recording" --sink null --rate recorded | grep -q 'samples/s: .* underruns; jitter p50' || fail "no words about the pace"
}

# denied REASON ARGUMENT...: of tapectl.
denied() {
  local answer
  answer=$(tapectl_json "${@:2}" 2>&1) && fail "not refused: ${*:2}"
  expect_error_in "$answer" PERMISSION_DENIED "$1"
}

keeps_to_its_directories() {
  stop_service "$WORKER_PID"
  mkdir "$WORK/in"
  mv "$WORK/samples.bin" "$WORK/in/"
  ln -s "$WORK/worker.log" "$WORK/in/link"
  WORKER_OPTIONS=(--file-root "read:$WORK/in" --file-root "write:$WORK/out" --storage-allow "127.*:$STORAGE_PORT"
    --send-allow "127.0.0.1:*")
  start_worker
  is_whole "$(tapectl_json record l0/c0 --source "file:$WORK/in/samples.bin")" "a file beneath the directory"
  tapectl play l0/c0/latest --sink "file:$WORK/out/another" >/dev/null
  cmp "$WORK/in/samples.bin" "$WORK/out/another" || fail "what came back differs"
  denied FILE_OUTSIDE_ROOTS record l0/c0 --source "file:$WORK/out/copy"
  denied FILE_OUTSIDE_ROOTS record l0/c0 --source "file:$WORK/in/link"
  denied FILE_OUTSIDE_ROOTS play l0/c0/latest --sink "file:$WORK/in/samples.bin" --replace
  denied STORAGE_NOT_ALLOWED --storage "localhost:$STORAGE_PORT" record l0/c0 --source synth --blocks 1
  denied DESTINATION_NOT_ALLOWED play l0/c0/latest --sink udp:address=127.0.0.2:9
}

begin_test
start_storage
start_worker
mkdir "$WORK/out"
echo precious >"$WORK/out/copy"
head -c $((3 * MIB + 77)) /dev/urandom >"$WORK/samples.bin"
lun_with_channel posix l0/c0 cu8 64KiB
tapectl channel create l0/c1 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
recording=$(tapectl_json record l0/c0 --source "file:$WORK/samples.bin" | jq -r .recording)
tapectl record l0/c1 --source "file:$WORK/samples.bin" --loop --duration 60s >/dev/null 2>&1 &
recorder=$!
wait_for 10 job_is_running || fail "nothing records"
growing=$(job .recording)
recording_job=$(job .name)
refused
cancelled
tapectl jobs cancel "$recording_job" >/dev/null
wait "$recorder" || true
replaced
as_the_line_says
keeps_to_its_directories
