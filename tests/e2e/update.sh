#!/usr/bin/env bash
# A LUN and a channel are changed while a recording runs, and the LUN gets another member and spare files: it ends as it began, the
# next one has what was changed, and so does the node after kill -9. What cannot be is refused and named.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

the_lun() { tapectl_json lun list | jq -c '.luns[] | select(.name == "luns/l0")'; }
the_channel() { tapectl_json channel list l0 | jq -c '.channels[0]'; }

# is_changed WHEN
is_changed() {
  json_is "$(the_lun)" '.capacity_bytes == 4000000000 and .max_age_s == 259200 and .max_fill_percent == 90
    and .prewrite_files == 2 and .prewrite_bytes == 1048576 and (.members | length) == 2' "the LUN $1"
  json_is "$(the_channel)" '.block_bytes == 131072 and .commit_level == "written" and .sample_rate == 1e6' "the channel $1"
}

# has_spares DIRECTORY
has_spares() { (($(find "$1/.tapedeck/spares" -size 1024k 2>/dev/null | wc -l) == 2)); }

# is_refused WHAT COMMAND...: with the status of wrong input, and the name of what is wrong.
is_refused() {
  local answer status=0
  answer=$(tapectl_json "${@:2}") || status=$?
  ((status == 2)) || fail "status $status of: ${*:2}: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  [[ $answer == *"$1"* ]] || fail "it does not name $1: $answer"
}

begin_test
start_storage
start_worker
CAPACITY=3GiB lun_with_channel posix l0/c0 cf32_le 64KiB
start_job record l0/c0 --source synth --blocks "$(scaled 4000)"
mkdir "$WORK/more"
tapectl lun update l0 --capacity 4GB --max-age 72h --max-fill 90 --add-member "$WORK/more"
tapectl lun update l0 --prewrite-files 2 --prewrite-bytes 1MiB
tapectl channel update l0/c0 --block-bytes 128KiB --commit written
is_changed "beside a recording"
end_job
((JOB_STATUS == 0)) || fail "the recording did not end well: $ANSWER"
recording=$(newest_recording)
json_is "$(tapectl_json recordings show "$recording")" \
  ".state == \"SEALED\" and .blocks == $(scaled 4000) and .block_bytes == 65536 and .commit_level == \"durable\"" "the recording"
[[ -z $(find "$WORK/more" -name data) ]] || fail "a recording that ran has reached a new member"
for member in "$WORK/member-l0" "$WORK/more"; do wait_for 30 has_spares "$member" || fail "no spares in $member"; done
is_refused capacity_bytes lun update l0 --capacity 1MiB
is_refused members lun update l0 --add-member "$WORK/more"
is_refused prewrite_files lun update l0 --prewrite-files 0
tapectl channel update l0/c0 --segment 2GiB
is_refused "luns/l0/channels/c0" lun update l0 --full-policy ring
tapectl channel update l0/c0 --segment 0
is_refused update_mask channel update l0/c0
kill_service "$STORAGE_PID"
start_storage
is_changed "after kill -9"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 20)" "the next recording"
json_is "$(tapectl_json recordings show "$(newest_recording)")" '.block_bytes == 131072' "the next recording"
(($(find "$WORK/more" -name data -size +1000k | wc -l) == 1)) || fail "the next recording is not on the new member"
is_whole "$(tapectl_json play "$recording" --sink verify)" "playing the one before"
