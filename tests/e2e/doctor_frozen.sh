#!/usr/bin/env bash
# tapectl doctor beside a LUN whose disk does not answer any more: it answers in time, names that LUN and no other, again when it is
# asked again, and finds nothing once the disk is back.
source "$(dirname "${BASH_SOURCE[0]}")/frozen_disk.sh"
source "$(dirname "${BASH_SOURCE[0]}")/doctor_lib.sh"

# says_which_hangs: within the 10 s that a node takes at most, and some for the rest.
says_which_hangs() {
  local began
  began=$(milliseconds)
  finds LUN_NOT_RESPONDING error storage
  (($(milliseconds) - began < $(slow 14000))) || fail "the doctor took $(($(milliseconds) - began)) ms"
  json_is "$ANSWER" '[.findings[] | select(.severity == "error") | .what] | length == 1 and (.[0] | contains("luns/frozen"))' "what hangs"
}

begin_test
begin_disk
mkdir "$WORK/member-good" "$WORK/disk/member"
WORKER_DEVICE=host
start_storage
start_worker
tapectl lun create good --store posix --member "$WORK/member-good" --capacity 1GiB >/dev/null
tapectl lun create frozen --store posix --member "$WORK/disk/member" >/dev/null
is_healthy
freeze
says_which_hangs
says_which_hangs
thaw
wait_for 20 is_healthy || is_healthy
