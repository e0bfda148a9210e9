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
COMPILER=(clang++)
! command -v ccache >/dev/null || COMPILER=(ccache clang++)
deploy/ci/thread_safety_files.py "$PWD" "$PWD/build/thread-safety" |
  xargs -P "$(nproc)" -L 1 "${COMPILER[@]}" -std=c++20 -isystem build/thread-safety/include -O0 -c -Wthread-safety -Werror -Wno-unknown-warning-option
