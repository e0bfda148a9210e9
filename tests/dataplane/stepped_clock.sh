#!/usr/bin/env bash
# Timed waits while the wall clock steps by a second, an hour and ten years, forwards and back.
#   stepped_clock.sh BIN [--machine]   by libfaketime, or the clock of this machine, a virtual one
set -euo pipefail
CASES='*SteppedClock*'
[[ -z ${2:-} ]] || TAPEDECK_STEP_MACHINE=1 exec "$1/dataplane_test" --gtest_filter="$CASES"
library=$(find /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null | head -n 1)
[[ -n $library ]] || { echo "skipped: libfaketime is not installed"; exit 77; }
clock=$(mktemp)
trap 'rm "$clock"' EXIT
echo +0 >"$clock"
# AddressSanitizer wants to be the first library, and works as the second.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 \
  "$1/dataplane_test" --gtest_filter="$CASES"
