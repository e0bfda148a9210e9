#!/usr/bin/env bash
# Writes into the chart what it has of deploy/observability, alerts and dashboard, or into another directory: update.sh [DIR].
# tests/helm sees that the chart has them as they are there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
files=${1:-$here/tapedeck/files}
grep -v '^#' "$here/../deploy/observability/rules.yml" >"$files/rules.yml"
"$here/../deploy/observability/dashboard.py" | jq -c . >"$files/dashboard.json"
