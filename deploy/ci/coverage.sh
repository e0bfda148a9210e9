#!/usr/bin/env bash
# Line coverage of the in-process tests: prints the table of tests/README.md, which is left in build-coverage/coverage.md.
#   deploy/ci/coverage.sh --table    of the last run, again
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
if ! command -v gcovr >/dev/null; then
  echo "skipped: gcovr is not installed (apt-get install gcovr)"
  exit 77
fi
dir=$TAPEDECK_ROOT/build-coverage
if [[ ${1:-} != --table ]]; then
  # Only what runs inside one process is run, so only that is built. -O1, as with -O0 tests that compare payloads byte by byte
  # take minutes each.
  # shellcheck disable=SC2034
  TAPEDECK_TARGETS=(tapedeck_tests)
  tapedeck_build_shown Building "$dir/build.log" "$dir" -DTAPEDECK_CUDA=OFF -DCMAKE_BUILD_TYPE=Coverage \
    -DCMAKE_CXX_FLAGS_COVERAGE='-O1 -g1 --coverage' -DCMAKE_EXE_LINKER_FLAGS=--coverage
  find "$dir" -name '*.gcda' -delete
  # Other states of the same lines are the plain build's matter.
  unset TAPEDECK_LONG TAPEDECK_CONTINUED
  TAPEDECK_SANITIZED=few tapedeck_ctest "$dir" -LE '^(e2e|guide|lint|gpu|lab|helm)$'
fi
cd "$TAPEDECK_ROOT"
gcovr -j "$(nproc)" --root . --filter '(dataplane|services|storage_node|gpu_worker)/' --json-summary "$dir/coverage.json" "$dir"
deploy/ci/coverage_table.py "$dir/coverage.json" | tee "$dir/coverage.md"
