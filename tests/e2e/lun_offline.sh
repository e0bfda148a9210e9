#!/usr/bin/env bash
# The storage node dies while it records into one of two LUNs, whose disk is away when it starts again: the other LUN
# works, and the first one comes back with its recordings when the disk does. Then it may not lie where it does.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

state_of() { tapectl_json lun list | jq -r --arg name "luns/$1" '.luns[] | select(.name == $name) | .state'; }
is_ready() { [[ $(state_of "$1") == READY ]]; }

begin_test
start_storage
start_worker
lun_with_channel posix away/c0 cf32_le 1MiB
lun_with_channel posix here/c0 cf32_le 1MiB
start_job record away/c0 --source synth --duration 60s --resume-for 0s
recording=$(newest_recording)
seen=$(job .blocks)
kill_service "$STORAGE_PID"
end_job
mv "$WORK/member-away" "$WORK/unplugged"

start_storage
[[ $(state_of away) == OFFLINE && $(state_of here) == READY ]] || fail "$(tapectl_json lun list)"
json_is "$(tapectl_json lun list)" "[.luns[] | select(.cause | contains(\"$WORK/member-away\"))] | length == 1" "the cause"
is_whole "$(tapectl_json record here/c0 --source synth --blocks 50)" "recording on the other LUN"
answer=$(tapectl_json record away/c0 --source synth --blocks 1) && fail "recorded on a LUN that is offline: $answer"
expect_error_in "$answer" FAILED_PRECONDITION LUN_OFFLINE
json_is "$(tapectl_json recordings list away/c0)" '.recordings | length == 1' "recordings of the LUN that is offline"

mv "$WORK/unplugged" "$WORK/member-away"
wait_for 10 is_ready away || fail "its disk is back: $(tapectl_json lun list)"
json_is "$(tapectl_json recordings show "$recording")" ".state == \"SALVAGED\" and .durable_watermark >= $seen" "what was acknowledged"
is_salvaged "$recording" "$seen" "the recording on the disk that was away"
is_whole "$(tapectl_json record away/c0 --source synth --blocks 50)" "recording anew"

stop_service "$STORAGE_PID"
STORAGE_OPTIONS=(--member-root "$WORK/elsewhere")
mkdir "$WORK/member-new"
start_storage
[[ $(state_of away) == OFFLINE && $(state_of here) == OFFLINE ]] || fail "members that lie elsewhere: $(tapectl_json lun list)"
json_is "$(tapectl_json lun list)" '[.luns[] | select(.cause | contains("--member-root"))] | length == 2' "the cause"
answer=$(tapectl_json lun create new --store posix --member "$WORK/member-new") && fail "made elsewhere: $answer"
expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
stop_service "$STORAGE_PID"
STORAGE_OPTIONS=(--member-root "$WORK")
start_storage
[[ $(state_of away) == READY && $(state_of here) == READY ]] || fail "members that lie where they may: $(tapectl_json lun list)"
