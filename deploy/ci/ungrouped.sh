#!/usr/bin/env bash
# Every unit compiles alone: the plain build, one file at a time, without mold.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
tapedeck_build_shown Building "$TAPEDECK_ROOT/build-ungrouped/build.log" "$TAPEDECK_ROOT/build-ungrouped" -DTAPEDECK_GROUPED=OFF
