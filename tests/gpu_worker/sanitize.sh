#!/usr/bin/env bash
# Every kernel of ours on a GPU under compute-sanitizer: memcheck (what is read and written outside of memory) and racecheck
# (threads that meet in shared memory). One line for each tool, with the count of its errors. Needs no more of this tree than
# itself and the program, whose folder TAPEDECK_BIN names.
set -euo pipefail
export LC_ALL=C

bin=${TAPEDECK_BIN:-$(dirname "${BASH_SOURCE[0]}")/../../build/bin}
program=$bin/gpu_worker_device_test

# The kernel, and the cases that run it; few and small ones, as the tools make each hundreds of times slower.
cases=(
  'crc32c:Cuda/DirectTest.TheDeviceComputesTheCpusCrc/Cuda'
  'synth:Cuda/SynthSourceTest.EveryDeviceMakesTheSameBits/Cuda'
  'fft weigh:Cuda/WeigherTest.EveryDeviceMultipliesEachTransformAlike/Cuda'
  'fft:Cuda/FftTest.TransformsAreForwardAndUnnormalised/Cuda'
  'convert:Cuda/ConvertTest.*/Cuda'
  'power:Cuda/PowerTest.*/Cuda'
  'detect:Cuda/DetectTest.OnlyWhatLiesInTheBandTriggers/Cuda'
  'several at a time:Cuda/QueueTest.ManyBlocksUnderWayKeepTheirContents/Cuda'
)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# Whether the program still has a case for each kernel, so that this shows on machines without a GPU, too.
check_cases() {
  local entry listed
  for entry in "${cases[@]}"; do
    listed=$("$program" --gtest_list_tests "--gtest_filter=${entry#*:}") || fail "$program does not start"
    [[ $listed == *$'\n  '* ]] || fail "no case runs ${entry%%:*}: ${entry#*:}"
  done
}

# Says why where the first case is skipped.
need_gpu() {
  local said
  said=$("$program" "--gtest_filter=${cases[0]#*:}" 2>&1) || fail "the first case fails without the tools, too: $said"
  [[ $said != *'[  SKIPPED ]'* ]] || skip "no GPU: $(grep -A1 'Skipped$' <<<"$said" | sed -n 2p)"
}

find_tool() {
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || skip "compute-sanitizer is not installed"
}

# run TOOL: its line; what it has said where that is not a clean end.
run() {
  local said status=0 errors left_out
  said=$("$sanitizer" --tool "$1" --error-exitcode 9 "$program" "--gtest_filter=$filter" 2>&1) || status=$?
  errors=$(sed -nE 's/^=+ (ERROR SUMMARY: ([0-9]+) error.*|RACECHECK SUMMARY: ([0-9]+) hazard.*)$/\2\3/p' <<<"$said" | tail -1)
  left_out=$(grep -c '^\[  SKIPPED \] .*(' <<<"$said" || true)
  echo "$1: ${errors:-unknown} errors in $(grep -c '^\[       OK \]' <<<"$said" || true) cases, $left_out skipped"
  [[ $status == 0 && $errors == 0 ]] && return
  echo "$said"
  bad+=" $1"
}

[[ -x $program ]] || fail "$program is not built"
check_cases
need_gpu
find_tool
filter=$(IFS=:; echo "${cases[*]#*:}")
bad=
run memcheck
run racecheck
[[ -z $bad ]] || fail "compute-sanitizer finds errors with$bad"
