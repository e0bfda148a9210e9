#!/usr/bin/env bash
# Samples come out of other programs and go into them, by pipes and FIFOs: byte for byte, whoever is slow, dies or leaves early.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export_raw() { tapectl recordings export l0/c0/latest --format raw --to - "$@" 2>"$WORK/report"; }
import_raw() { tapectl recordings import l0/c0 "$1" --format raw "${@:2}" >"$WORK/imported"; }

# is_recorded WHAT [BYTES]: the newest recording is sealed, and has the samples, or so many bytes of them.
is_recorded() {
  local bytes=${2:-$(stat -c %s "$WORK/samples")}
  json_is "$(tapectl_json recordings show l0/c0/latest)" ".state == \"SEALED\" and .bytes == $bytes" "$1"
  export_raw | cmp - <(head -c "$bytes" "$WORK/samples") || fail "$1: other samples came back"
}

# refused REASON STATUS COMMAND...: of tapectl, at once.
refused() {
  local status=0 answer
  answer=$(timeout 20 "$TAPEDECK_BIN/tapectl" --output json "${@:3}" 2>&1) || status=$?
  [[ $answer == *"\"$1\""* ]] || fail "${*:3}: $answer"
  ((status == $2)) || fail "${*:3}: status $status"
}

through_programs() {
  # shellcheck disable=SC2002
  cat "$WORK/samples" | import_raw -
  is_recorded "cat | import"
  import_raw - <"$WORK/samples"
  is_recorded "import of a file as standard input"
  dd if="$WORK/samples" bs=1000 status=none | tapectl record l0/c0 --source - >/dev/null
  is_recorded "dd | record"
  export_raw --from-sample 1000 --to-sample 3000 | cmp - <(tail -c +4001 "$WORK/samples" | head -c 8000) || fail "a range"
  tapectl play l0/c0/latest --sink - --from-sample 1000 --to-sample 3000 2>/dev/null |
    cmp - <(tail -c +4001 "$WORK/samples" | head -c 8000) || fail "play | cmp"
  tapectl_json recordings export l0/c0/latest --format raw --to - >"$WORK/out" 2>"$WORK/report"
  cmp "$WORK/samples" "$WORK/out" || fail "more than samples on standard output"
  json_is "$(<"$WORK/report")" '.file == "-" and .missing_samples == 0' "the answer on stderr"
}

# A stream is what the file would be.
other_formats() {
  local format
  for format in wav vita49-pcap; do
    tapectl recordings export l0/c0/latest --format $format --to "$WORK/file.$format" >/dev/null
    tapectl recordings export l0/c0/latest --format $format --to - 2>/dev/null | cmp - "$WORK/file.$format" || fail "$format"
  done
  tapectl recordings export l0/c0/latest --format sigmf --to - 2>/dev/null | tar -x -C "$WORK/untarred" --strip-components 1
  cmp "$WORK"/untarred/*.sigmf-data "$WORK/samples" || fail "sigmf | tar"
  json_is "$(cat "$WORK"/untarred/*.sigmf-meta)" '.global["core:datatype"] == "ci16_le"' "sigmf | tar"
  refused ARGUMENT_INVALID 2 recordings export l0/c0/latest --format hdf5 --to -
  refused ARGUMENT_INVALID 2 recordings import l0/c0 - --format wav </dev/null
  refused ARGUMENT_INVALID 2 recordings export l0/c0/latest --format raw --to - --resume
  refused INVALID_ARGUMENT 2 play l0/c0/latest --sink - --rate recorded
  refused INVALID_ARGUMENT 2 record l0/c0 --source - --blocks 3
}

closed_pipe() {
  (export_raw || echo $? >"$WORK/status") | head -c 1000 | cmp - <(head -c 1000 "$WORK/samples") || fail "head of an export"
  [[ $(<"$WORK/status") == 141 ]] || fail "a reader that leaves: $(<"$WORK/status")"
  [[ ! -s $WORK/report ]] || fail "a reader that leaves: $(<"$WORK/report")"
}

nothing_comes() {
  local before
  before=$(tapectl_json recordings list l0/c0)
  refused FILE_INVALID 2 recordings import l0/c0 - --format raw </dev/null
  refused FILE_INVALID 2 record l0/c0 --source - < <(true)
  [[ $(tapectl_json recordings list l0/c0) == "$before" ]] || fail "nothing became a recording"
}

# on_terminal WORDS COMMAND: is refused there, with these words.
on_terminal() {
  local status=0
  script -qec "$TAPEDECK_BIN/tapectl $2" /dev/null </dev/null >"$WORK/typescript" 2>&1 || status=$?
  ((status == 2)) || fail "$2 on a terminal: status $status"
  grep -q "$1" "$WORK/typescript" || fail "$2 on a terminal: $(<"$WORK/typescript")"
}

slow_ends() {
  (head -c 100001 "$WORK/samples" && sleep 2 && tail -c +100002 "$WORK/samples") | import_raw -
  is_recorded "a slow producer"
  export_raw | (sleep 2 && cat) | cmp - "$WORK/samples" || fail "a slow reader"
}

fifos() {
  tapectl recordings export l0/c0/latest --format raw --to "$WORK/fifo" >/dev/null &
  cmp "$WORK/fifo" "$WORK/samples" || fail "a FIFO that is read"
  wait $! || fail "an export into a FIFO"
  import_raw "$WORK/fifo" &
  sleep 0.5 # it waits for the producer
  cat "$WORK/samples" >"$WORK/fifo"
  wait $! || fail "an import from a FIFO"
  is_recorded "a FIFO that is written"
  local status=0
  timeout 20 "$TAPEDECK_BIN/tapectl" --timeout 1s recordings export l0/c0/latest --format raw --to "$WORK/fifo" 2>/dev/null || status=$?
  ((status == 1 || status == 124)) || fail "nobody reads the FIFO: $status"
  status=0
  timeout 20 "$TAPEDECK_BIN/tapectl" --timeout 1s recordings import l0/c0 "$WORK/fifo" --format raw 2>"$WORK/report" || status=$?
  ((status == 124)) || fail "nobody writes the FIFO: $status"
  grep -q "no sample came" "$WORK/report" || fail "nobody writes the FIFO: $(<"$WORK/report")"
  # A job's thread waits for no program.
  refused FILE_INVALID 2 record l0/c0 --source "file:$WORK/fifo"
  refused FILE_INVALID 2 play l0/c0/latest --sink "file:$WORK/fifo" --replace
}

is_recording() { [[ $(tapectl_json recordings list l0/c0 | jq -r '.recordings[0].state') == RECORDING ]]; }

# What has come is kept where the producer is killed, and where Ctrl-C or --timeout ends tapectl.
ended_early() {
  import_raw "$WORK/fifo" &
  local importer=$!
  (cat "$WORK/samples" && exec sleep 60) >"$WORK/fifo" &
  local producer=$!
  wait_for 20 grep -q '^sleep$' "/proc/$producer/comm" || fail "the producer has not written all"
  kill -KILL "$producer"
  wait "$importer" || fail "a killed producer"
  is_recorded "a killed producer"
  env --default-signal=INT "$TAPEDECK_BIN/tapectl" recordings import l0/c0 "$WORK/fifo" --format raw >/dev/null &
  importer=$!
  exec 9>"$WORK/fifo"
  head -c 100000 "$WORK/samples" >&9
  wait_for 20 is_recording || fail "nothing is recorded"
  sleep 1
  kill -INT "$importer"
  wait "$importer" || fail "Ctrl-C during an import from a FIFO"
  exec 9>&-
  is_recorded "Ctrl-C" 100000
  tapectl --timeout 3s recordings import l0/c0 "$WORK/fifo" --format raw >/dev/null 2>&1 &
  importer=$!
  exec 9>"$WORK/fifo"
  head -c 70000 "$WORK/samples" >&9
  local status=0
  wait "$importer" || status=$?
  exec 9>&-
  ((status == 124)) || fail "--timeout during an import from a FIFO: $status"
  is_recorded "--timeout" 70000
}

# The output ends before what is damaged, unless zeros are welcome.
damaged() {
  local data status=0
  import_raw "$WORK/samples"
  data=$(find "$WORK/member-l0/c0/$(tapectl_json recordings show l0/c0/latest | jq -r '.name | split("/") | last')" -size +1M)
  dd if=/dev/zero of="$data" bs=64K seek=10 count=1 conv=notrunc status=none
  export_raw >"$WORK/out" || status=$?
  ((status == 1)) || fail "a damaged block: status $status"
  grep -q BLOCK_DAMAGED "$WORK/report" || fail "a damaged block: $(<"$WORK/report")"
  cmp "$WORK/out" <(head -c $((10 << 16)) "$WORK/samples") || fail "what lies before a damaged block"
  export_raw --gaps | cmp - <(head -c $((10 << 16)) "$WORK/samples" && head -c 65536 /dev/zero &&
    tail -c +$((11 * 65536 + 1)) "$WORK/samples") || fail "a damaged block as zeros"
}

begin_test
need script
start_storage
start_worker
lun_with_channel posix l0/c0 ci16_le 64KiB
head -c $((3 * MIB + 77)) /dev/urandom >"$WORK/samples"
mkfifo "$WORK/fifo"
mkdir "$WORK/untarred"
through_programs
other_formats
closed_pipe
nothing_comes
on_terminal "standard output is a terminal" "recordings export l0/c0/latest --format raw --to -"
on_terminal "standard input is a terminal" "recordings import l0/c0 - --format raw"
slow_ends
fifos
ended_early
damaged
