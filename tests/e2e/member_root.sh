#!/usr/bin/env bash
# A storage node that is started with --member-root has no LUN whose members lie elsewhere, and makes none there.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

states() { tapectl_json lun list | jq -c '[.luns[].state]'; }

begin_test
start_storage
lun_of_kind posix l0
lun_of_kind posix l1
stop_service "$STORAGE_PID"
STORAGE_OPTIONS=(--member-root "$WORK/elsewhere")
mkdir "$WORK/member-new"
start_storage
[[ $(states) == '["OFFLINE","OFFLINE"]' ]] || fail "members that lie elsewhere: $(tapectl_json lun list)"
json_is "$(tapectl_json lun list)" '[.luns[] | select(.cause | contains("--member-root"))] | length == 2' "the cause"
answer=$(tapectl_json lun create new --store posix --member "$WORK/member-new") && fail "made elsewhere: $answer"
expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
stop_service "$STORAGE_PID"
STORAGE_OPTIONS=(--member-root "$WORK")
start_storage
[[ $(states) == '["READY","READY"]' ]] || fail "members that lie where they may: $(tapectl_json lun list)"
