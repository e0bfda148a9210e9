#!/usr/bin/env bash
# Every unit compiles alone and all of it links: one file at a time, and unoptimized, since only that is asked.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
tapedeck_build_shown Building "$TAPEDECK_ROOT/build-ungrouped/build.log" "$TAPEDECK_ROOT/build-ungrouped" -DTAPEDECK_GROUPED=OFF \
  -DCMAKE_BUILD_TYPE=Ungrouped -DCMAKE_CXX_FLAGS_UNGROUPED=-O0
