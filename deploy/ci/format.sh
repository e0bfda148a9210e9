#!/usr/bin/env bash
# clang-format over every C++ and CUDA file of ours; --fix rewrites them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-format >/dev/null; then
  echo "skipped: clang-format is not installed"
  exit 77
fi
mode=(--dry-run --Werror)
[[ ${1:-} != --fix ]] || mode=(-i)
git ls-files -co --exclude-standard -z -- '*.h' '*.cc' '*.cu' '*.cuh' | xargs -0r clang-format "${mode[@]}"
