#!/usr/bin/env bash
# clang-tidy with the repository's .clang-tidy over every .cc of ours, or over the files given, each by itself. Without any it reads
# the groups that are compiled: most of the time goes into the headers that a group's files share.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-tidy >/dev/null; then
  echo "skipped: clang-tidy is not installed"
  exit 77
fi
# A group includes .cc files, and g++ knows a warning that clang does not.
TIDY=(clang-tidy --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include --extra-arg=-Wno-unknown-warning-option
  "--extra-arg-before=-isystem$PWD/build/tidy/include")
deploy/ci/rados_for_clang.sh build/tidy/include
if [[ $# -eq 0 ]]; then
  [[ -f build/compile_commands.json ]] || cmake -S . -B build -G Ninja
  ninja -C build tapedeck_proto_sources >/dev/null
  TIDY+=(-p build)
  # Ours are the files of the tree and the groups of them; generated protos are a group too.
  mapfile -t files < <(jq -r '.[].file' build/compile_commands.json | sort -u |
    grep -E "^$PWD/(build/.*/groups/|(dataplane|services|storage_node|gpu_worker|tests)/).*\.cc$" | grep -v "^$PWD/build/proto/")
  set -- "${files[@]}"
else
  tests/lint/units.sh . build >/dev/null
  TIDY+=(-p build/units)
fi
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "${TIDY[@]}"
