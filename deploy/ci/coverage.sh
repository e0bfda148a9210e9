#!/usr/bin/env bash
# Line coverage of the in-process tests, per room, by gcovr: build-coverage/coverage.txt.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
if ! command -v gcovr >/dev/null; then
  echo "skipped: gcovr is not installed (apt-get install gcovr)"
  exit 77
fi
dir=$TAPEDECK_ROOT/build-coverage
tapedeck_build "$dir" -DTAPEDECK_CUDA=OFF -DCMAKE_BUILD_TYPE=Coverage \
  -DCMAKE_CXX_FLAGS_COVERAGE='-O0 -g1 --coverage' -DCMAKE_EXE_LINKER_FLAGS=--coverage
unset TAPEDECK_LONG # other states, the same lines
tapedeck_ctest "$dir" -LE '^(e2e|lint|gpu|lab|helm)$'
cd "$TAPEDECK_ROOT"
for room in dataplane services storage_node gpu_worker; do
  echo "== $room"
  gcovr --root . --filter "$room/" --print-summary "$dir" | tail -n 4
done | tee "$dir/coverage.txt"
