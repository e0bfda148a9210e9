#!/usr/bin/env bash
# clang's thread-safety analysis over the product's .cc files: g++ ignores ABSL_GUARDED_BY. Generates the protos in
# build/ first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang++ >/dev/null; then
  echo "skipped: clang++ is not installed"
  exit 77
fi
[[ -f build/compile_commands.json ]] || cmake -S . -B build -G Ninja
ninja -C build tapedeck_proto_sources tapedeck_console_page >/dev/null
# For ccache, which does not remember what compiles nothing, each is compiled.
mkdir -p build/thread-safety
deploy/ci/rados_for_clang.sh build/thread-safety/include
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
COMPILER="clang++ -std=c++20 -isystem build/thread-safety/include -O0 -c -Wthread-safety -Werror -Wno-unknown-warning-option"
! command -v ccache >/dev/null || COMPILER="ccache $COMPILER"
export COMPILER

# analyse FILE FLAG...: of several together. A file in which a neighbour's names hide what it means is judged by itself.
analyse() {
  local one status=0
  # The compiler's words.
  # shellcheck disable=SC2086
  $COMPILER "$1" -o "$1.o" "${@:2}" 2>/dev/null && return
  while read -r one; do
    # shellcheck disable=SC2086
    $COMPILER "$one" -o "$1.alone.o" "${@:2}" || status=1
  done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$1")
  return "$status"
}
export -f analyse

# The inner shell expands it.
# shellcheck disable=SC2016
deploy/ci/thread_safety_files.py "$PWD" "$PWD/build/thread-safety" | xargs -P "$(nproc)" -L 1 bash -c 'analyse "$@"' analyse
