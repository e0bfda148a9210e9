#!/usr/bin/env bash
# deploy/ci/sanitized.sh NAME SANITIZERS [unit]: builds the tests with sanitizers into build-NAME, without CUDA, and runs those
# that run inside one process; with "unit" what neither simulates nor lets anything fail, which deploy/test.sh has without
# sanitizers. Results: build-NAME/junit.xml.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
name=$1 sanitizers=$2
dir=$TAPEDECK_ROOT/build-$name
# Only what is run is built.
TAPEDECK_TARGETS=(tapedeck_tests)
CHOICE=(-LE '^(e2e|guide|lint|gpu|lab|helm)$')
if [[ ${3:-} == unit ]]; then
  # shellcheck disable=SC2034
  TAPEDECK_TARGETS=(tapedeck_unit_tests)
  CHOICE=(-L "$TAPEDECK_SANITIZED_LABELS")
fi
# -O1 keeps the 200 simulated runs quick; no NDEBUG, so that asserts count.
tapedeck_build_shown Building "$dir/build.log" "$dir" -DTAPEDECK_SANITIZE="$sanitizers" -DTAPEDECK_CUDA=OFF \
  -DCMAKE_BUILD_TYPE=Sanitized -DCMAKE_CXX_FLAGS_SANITIZED='-O1 -g1'
# Other states that the same code meets are the plain build's matter: here are few, and with TAPEDECK_LONG as many as the
# plain build's short form has.
TAPEDECK_SANITIZED=${TAPEDECK_LONG:+all}
export TAPEDECK_SANITIZED=${TAPEDECK_SANITIZED:-few}
unset TAPEDECK_LONG
# Of 30 calls, as many are kept by default, the ten innermost tell where memory came from, for a fourteenth less time.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:malloc_context_size=10
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$TAPEDECK_ROOT/deploy/ci/tsan.suppressions
tapedeck_ctest "$dir" "${CHOICE[@]}" -E "${TAPEDECK_TESTS_LEFT_OUT:-^$}"
