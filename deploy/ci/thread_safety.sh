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
ninja -C build tapedeck_proto_sources >/dev/null
# Only language level, include paths and definitions are taken over: g++ knows flags clang does not.
jq -r --arg root "$PWD/" '
  .[] | select(.file | ltrimstr($root + "build/") | ltrimstr($root)
        | test("^(dataplane|services|storage_node|gpu_worker)/.*\\.(cc|cxx)$"))
      | [.file] + [.command | scan("(?:-isystem |-I|-D)[^ ]+") | split(" ")[]] | join(" ")' \
  build/compile_commands.json | sort -u |
  xargs -P "$(nproc)" -L 1 clang++ -std=c++20 -fsyntax-only -Wthread-safety -Werror \
    -Wno-unknown-warning-option
