#!/usr/bin/env bash
# Runs shellcheck over every shell script of ours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v shellcheck >/dev/null; then
  echo "skipped: shellcheck is not installed"
  exit 77
fi
git ls-files -co --exclude-standard -z -- '*.sh' .ci/run | xargs -0r -n 8 -P "$(nproc)" shellcheck -x -P SCRIPTDIR:. -e SC2153
