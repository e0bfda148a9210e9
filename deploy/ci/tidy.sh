#!/usr/bin/env bash
# clang-tidy with the repository's .clang-tidy over every .cc of ours, or over the files given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-tidy >/dev/null; then
  echo "skipped: clang-tidy is not installed"
  exit 77
fi
tests/lint/units.sh . build >/dev/null
if [[ $# -eq 0 ]]; then
  mapfile -t files < <(jq -r '.[].file' build/units/compile_commands.json | sort -u |
    grep "^$PWD/" | grep -v "^$PWD/build" | grep '\.cc$')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" clang-tidy -p build/units --quiet --warnings-as-errors='*'
