#!/usr/bin/env bash
# clang-tidy with the repository's .clang-tidy over every .cc of ours, or over the files given, each by itself. Without any it reads
# the groups that are compiled: most of the time goes into the headers that a group's files share. Groups that were right and have
# not changed are not read again, once the build is whole.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-tidy >/dev/null; then
  echo "skipped: clang-tidy is not installed"
  exit 77
fi
# A group includes .cc files, and g++ knows a warning that clang does not.
TIDY=(--quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include --extra-arg=-Wno-unknown-warning-option
  "--extra-arg-before=-isystem$PWD/build/tidy/include")
deploy/ci/rados_for_clang.sh build/tidy/include
if [[ $# -eq 0 ]]; then
  [[ -f build/compile_commands.json ]] || cmake -S . -B build -G Ninja
  ninja -C build tapedeck_proto_sources >/dev/null
  exec deploy/ci/tidy.py build "${TIDY[@]}"
fi
tests/lint/units.sh . build >/dev/null
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy "${TIDY[@]}" -p build/units
