#!/usr/bin/env bash
# No test runs nowhere: what is built without sanitizers and with them, after both have run (nowhere.py).
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
exec "$TAPEDECK_ROOT/deploy/ci/nowhere.py" "$TAPEDECK_ROOT/build" "$TAPEDECK_ROOT/build-asan" "$TAPEDECK_SANITIZED_LABELS"
