#!/usr/bin/env bash
# deploy/ci/fuzz.sh [SECONDS]: builds the fuzzers of tests/fuzz with clang, libFuzzer, AddressSanitizer and UBSan into build-fuzz,
# and runs each for 2 seconds, or as many as said, from its corpus on. What they find of use is kept in build-fuzz/corpus. A crash
# fails, with the path of the bytes that cause it.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
SECONDS_EACH=${1:-2}
DIR=$TAPEDECK_ROOT/build-fuzz
CORPUS=$TAPEDECK_ROOT/tests/fuzz/corpus

# A program of libFuzzer can be made here.
can_fuzz() {
  command -v clang++ >/dev/null || return 1
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null
}

# run_one NAME: one line about it; on a crash its end and the bytes.
run_one() {
  local name=$1 log=$DIR/fuzz-$1.log found=$DIR/found/$1 executions
  mkdir -p "$DIR/corpus/$name" "$found"
  if "$DIR/bin/fuzz_$name" -max_total_time="$SECONDS_EACH" -max_len=4096 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$found/" "$DIR/corpus/$name" "$CORPUS/$name" >"$log" 2>&1; then
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$name: $executions executions in $SECONDS_EACH s"
    return 0
  fi
  grep -v '^#' "$log" | tail -n 40
  echo "$name: FAILED: $(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1) (log: $log)"
  return 1
}

if ! can_fuzz; then
  echo "skipped: clang++ with libFuzzer and AddressSanitizer is not installed (apt-get install clang libclang-rt-dev)"
  exit 77
fi
# shellcheck disable=SC2034
TAPEDECK_TARGETS=(tapedeck_fuzz)
# Nothing is precompiled: of what reads a precompiled header of clang the compiler's cache knows nothing in another clone.
tapedeck_build_shown Building "$DIR/build.log" "$DIR" -DTAPEDECK_FUZZ=ON -DTAPEDECK_SANITIZE=address,undefined,fuzzer-no-link \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_COMPILER=clang++ -DTAPEDECK_CUDA=OFF -DTAPEDECK_VERBS=OFF -DTAPEDECK_HWLOC=OFF -DTAPEDECK_FFTW=OFF -DTAPEDECK_ADMIN=OFF \
  -DCMAKE_BUILD_TYPE=Fuzz -DCMAKE_CXX_FLAGS_FUZZ='-O1 -g1'
export -f run_one
export DIR CORPUS SECONDS_EACH UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# The inner shell expands it.
# shellcheck disable=SC2016
for folder in "$CORPUS"/*/; do basename "$folder"; done | xargs -n 1 -P "$(nproc)" bash -c 'run_one "$1"' run_one
