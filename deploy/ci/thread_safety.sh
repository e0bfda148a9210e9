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
mkdir -p build/thread-safety
deploy/ci/rados_for_clang.sh build/thread-safety/include
exec deploy/ci/thread_safety.py . build/thread-safety -isystem build/thread-safety/include
