#!/usr/bin/env bash
# Every kernel of ours on a GPU under compute-sanitizer: memcheck (what is read and written outside of memory), racecheck (threads
# that meet in shared memory) and synccheck (barriers that not all threads reach). One line for each tool and program, with the
# count of its errors. Needs no more of this tree than itself and the programs, whose folder TAPEDECK_BIN names.
set -euo pipefail
export LC_ALL=C

bin=${TAPEDECK_BIN:-$(dirname "${BASH_SOURCE[0]}")/../../build/bin}

# The program, the kernel, and the cases that run it; few and small ones, as the tools make each hundreds of times slower.
cases=(
  'gpu_worker_device_test:crc32c:Cuda/DirectTest.TheDeviceComputesTheCpusCrc/Cuda'
  'gpu_worker_device_test:synth:Cuda/SynthSourceTest.EveryDeviceMakesTheSameBits/Cuda'
  'gpu_worker_device_test:fft weigh:Cuda/FftWindowTest.EveryDeviceMultipliesEachTransformAlike/Cuda'
  'gpu_worker_device_test:fft:Cuda/FftTest.TransformsAreForwardAndUnnormalised/Cuda'
  'gpu_worker_device_test:convert:Cuda/ConvertTest.*/Cuda'
  'gpu_worker_device_test:power:Cuda/PowerTest.*/Cuda'
  'gpu_worker_device_test:detect:Cuda/DetectTest.OnlyWhatLiesInTheBandTriggers/Cuda'
  'gpu_worker_device_test:several at a time:Cuda/QueueTest.ManyBlocksUnderWayKeepTheirContents/Cuda'
  'gpu_worker_kernel_sockets_test:calls:Cuda/KernelSocketsTest.EachRefusalHasItsName/Cuda'
  'gpu_worker_kernel_sockets_test:exchange:Cuda/KernelSocketsTest.AProgramConnectsToAnOrdinaryServer/Cuda'
  'gpu_worker_api_test:channel:Cuda/KernelChannelTest.BlocksOfManyAreOneRecording/Cuda'
  'gpu_worker_kernel_applications_test:matrix:Cuda/MatrixServerTest.ASizeThatIsNoneIsRefusedAndNobodyElseNoticesIt/Cuda'
  'gpu_worker_kernel_applications_test:face:Cuda/FaceServerTest.WhatIsMissingOrWrongInTheMemcachedIsNamed/Cuda'
  'gpu_worker_kernel_applications_test:word count:Cuda/WordCountTest.AHalfWhosePeerGoesSaysSo/Cuda'
)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# Whether the programs still have a case for each kernel, so that this shows on machines without a GPU, too.
check_cases() {
  local entry program listed
  for entry in "${cases[@]}"; do
    program=$bin/${entry%%:*}
    listed=$("$program" --gtest_list_tests "--gtest_filter=${entry##*:}") || fail "$program does not start"
    [[ $listed == *$'\n  '* ]] || fail "no case runs ${entry#*:}"
  done
}

# Says why where the first case is skipped.
need_gpu() {
  local said
  said=$("$bin/${cases[0]%%:*}" "--gtest_filter=${cases[0]##*:}" 2>&1) || fail "the first case fails without the tools, too: $said"
  [[ $said != *'[  SKIPPED ]'* ]] || skip "no GPU: $(grep -A1 'Skipped$' <<<"$said" | sed -n 2p)"
}

# filter_of PROGRAM: its cases.
filter_of() { printf '%s\n' "${cases[@]}" | sed -n "s/^$1:.*:\\(.*\\)/\\1/p" | paste -sd:; }

find_tool() {
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || skip "compute-sanitizer is not installed"
}

# run TOOL PROGRAM: its line; what it has said where that is not a clean end.
run() {
  local said status=0 errors left_out
  said=$(timeout -k 10 300 "$sanitizer" --tool "$1" --error-exitcode 9 "$bin/$2" "--gtest_filter=$(filter_of "$2")" 2>&1) || status=$?
  errors=$(sed -nE 's/^=+ (ERROR SUMMARY: ([0-9]+) error.*|RACECHECK SUMMARY: ([0-9]+) hazard.*)$/\2\3/p' <<<"$said" | tail -1)
  left_out=$(grep -c '^\[  SKIPPED \] .*(' <<<"$said" || true)
  echo "$1 of $2: ${errors:-unknown} errors in $(grep -c '^\[       OK \]' <<<"$said" || true) cases, $left_out skipped"
  [[ $status == 0 && $errors == 0 ]] && return
  echo "$said"
  bad+=" $1 of $2"
}

mapfile -t programs < <(printf '%s\n' "${cases[@]%%:*}" | uniq)
for program in "${programs[@]}"; do [[ -x $bin/$program ]] || fail "$bin/$program is not built"; done
check_cases
need_gpu
find_tool
bad=
for program in "${programs[@]}"; do
  for tool in memcheck racecheck synccheck; do run "$tool" "$program"; done
done
[[ -z $bad ]] || fail "compute-sanitizer finds errors with$bad"
