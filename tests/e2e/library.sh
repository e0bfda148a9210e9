#!/usr/bin/env bash
# A program of a user: the library and its headers are installed in a folder, the examples of its documentation are built against
# them as a project of their own, record and play, and what they recorded is what tapectl plays. A node that goes while one records
# ends it by name. Those with kernels are skipped with the reason where there is no GPU.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BUILD=${TAPEDECK_BIN%/bin}

# run_example NAME ARGUMENT...
run_example() { timeout "$(slow 60)" "$PROGRAMS/$1" "$TAPEDECK_STORAGE" r0=tcp:127.0.0.1 "${@:2}"; }

# Where ccache is installed, what was compiled in another run is not compiled again: the folder, which is another each time, and the
# times of installed headers do not count. It does not see that nvcc's -isystem= names that folder, but -I.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$WORK CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime
}

install_and_build() {
  need cmake
  need python3
  [[ -e $BUILD/gpu_worker/api/libtapedeck.so ]] || skip "this build has no libtapedeck"
  use_ccache
  cmake --install "$BUILD" --component dev --prefix "$PREFIX" >/dev/null
  cp -r "$PREFIX/usr/share/doc/tapedeck-dev/examples" "$WORK/examples"
  cmake -S "$WORK/examples" -B "$PROGRAMS" -DCMAKE_PREFIX_PATH="$PREFIX/usr" -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON >"$WORK/configure.log" 2>&1 ||
    fail "the examples do not configure: $(tail -n 5 "$WORK/configure.log")"
  cmake --build "$PROGRAMS" >"$WORK/build.log" 2>&1 || fail "the examples do not build: $(tail -n 20 "$WORK/build.log")"
}

# The library shows its own names only.
shows_its_own_names() {
  local others
  others=$(nm -DC --defined-only "$PREFIX/usr/lib/libtapedeck.so" | awk '$2 ~ /[TDBR]/' | grep -v ' tapedeck::\(Deck\|Recorder\|Player\|HostStream\)::' || true)
  [[ -z $others ]] || fail "libtapedeck.so shows more than its headers: $(head -n 3 <<<"$others")"
}

records_and_plays() {
  local recording answer
  recording=$(run_example record l0/c0 100) || fail "record: $recording"
  [[ $(run_example play "$recording") == "100 blocks, 0 missing, 0 wrong words" ]] || fail "play does not find what record made"
  tapectl recordings verify "$recording" >/dev/null
  answer=$(tapectl_json recordings show "$recording")
  json_is "$answer" '.blocks == 100 and .labels.experiment == "counting"' "what was recorded"
}

# A tone of half of full scale that turns by an eighth with each sample.
measures() {
  python3 -c '
import array, math, sys
turns = [(math.cos(math.pi / 4 * n), math.sin(math.pi / 4 * n)) for n in range(8)]
array.array("f", [part / 2 for n in range(100003) for part in turns[n % 8]]).tofile(sys.stdout.buffer)' >"$WORK/tone.bin"
  tapectl channel create l0/tone --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  tapectl recordings import l0/tone "$WORK/tone.bin" --format raw >/dev/null
  [[ $(run_example meter "$(newest_recording)") == "100003 samples, -6.02 dBFS, 125000.000 Hz" ]] || fail "meter finds another tone"
  python3 -c 'import array, sys; array.array("f", [float("nan")] * 200).tofile(sys.stdout.buffer)' >"$WORK/nan.bin"
  tapectl recordings import l0/tone "$WORK/nan.bin" --format raw >/dev/null
  ! run_example meter "$(newest_recording)" >"$WORK/meter.txt" 2>&1 || fail "meter measures what is no number: $(cat "$WORK/meter.txt")"
  grep -q "not a number" "$WORK/meter.txt" || fail "meter says: $(cat "$WORK/meter.txt")"
}

refuses_by_name() {
  local answer
  answer=$(run_example record l0/none 1 2>&1) && fail "a channel that is not there was recorded into"
  [[ $answer == *CHANNEL_NOT_FOUND* ]] || fail "no channel: $answer"
  answer=$(run_example play l0/c0/none 2>&1) && fail "a recording that is not there was played"
  [[ $answer == *RECORDING_NOT_FOUND* ]] || fail "no recording: $answer"
}

# node_goes EXAMPLE: the program is told, by name, soon after the node has gone.
node_goes() {
  local pid
  run_example "$1" l0/c0 100000000 2>"$WORK/lost.log" >/dev/null &
  pid=$!
  wait_for 20 has_blocks || fail "nothing is recorded: $(cat "$WORK/lost.log")"
  kill_service "$STORAGE_PID"
  if wait "$pid"; then fail "$1 ended well without its node"; fi
  grep -q "PEER_LOST\|NODE_UNREACHABLE" "$WORK/lost.log" || fail "a lost node: $(cat "$WORK/lost.log")"
}
has_blocks() { tapectl_json recordings list | jq -e '[.recordings[] | select(.state == "RECORDING" and .blocks > 4)] | length > 0'; }

# on_a_gpu: skipped where there is none, and the examples say why.
on_a_gpu() {
  local recording kernel status=0
  [[ -x $PROGRAMS/stream_record ]] || { echo "without kernels: no nvcc"; return; }
  recording=$(run_example stream_record l0/c0 100 2>"$WORK/gpu.log") || status=$?
  ((status != 77)) || { echo "without kernels: $(cat "$WORK/gpu.log")"; return; }
  ((status == 0)) || fail "stream_record: $(cat "$WORK/gpu.log")"
  [[ $(run_example play "$recording") == "100 blocks, 0 missing, 0 wrong words" ]] || fail "play does not find what the kernels made"
  kernel=$(run_example kernel_record l0/c0 100) || fail "kernel_record does not record"
  [[ $(run_example play "$kernel") == "100 blocks, 0 missing, 0 wrong words" ]] || fail "play does not find what one kernel made"
  [[ $(run_example graph_play "$recording") == "100 blocks, 0 wrong words" ]] || fail "the graph does not find what the kernels made"
  # Its kernel waits for a slot when the node is gone.
  EXAMPLE_THAT_GOES_ON=kernel_record
}

begin_test
PREFIX=$WORK/installed PROGRAMS=$WORK/programs
install_and_build
shows_its_own_names
start_storage
lun_with_channel posix l0/c0 ru32_le 64KiB
records_and_plays
measures
refuses_by_name
EXAMPLE_THAT_GOES_ON=record
on_a_gpu
node_goes "$EXAMPLE_THAT_GOES_ON"
