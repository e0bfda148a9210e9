# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: what holds while somebody is away and when they are back.

since_kill() { echo "$1 $(($(milliseconds) - KILLED_AT)) ms after the kill"; }

# closed_within SECONDS: the node has sealed or salvaged RECORDING.
closed_within() {
  wait_for "$1" is_closed "$RECORDING" || fail "not closed within $1 s: $(tapectl_json recordings show "$RECORDING")"
  since_kill closed
}

# has_seen FIELD: RECORDING has what was acknowledged before the kill.
has_seen() { json_is "$(tapectl_json recordings show "$RECORDING")" ".$1 >= $SEEN" "what was acknowledged"; }

job_ended() { ! kill -0 "$JOB_PID"; }
job_ends_within() {
  wait_for "$1" job_ended || fail "the job still runs $1 s after the kill: $(job)"
  since_kill "ended"
}

# job_fails [CODE REASON]: with such an error.
job_fails() {
  end_job
  ((JOB_STATUS != 0)) || fail "the job reports success: $ANSWER"
  (($# == 0)) || expect_error_in "$ANSWER" "$@"
}

# job_ends_well BLOCKS
job_ends_well() {
  end_job
  ((JOB_STATUS == 0)) || fail "the job failed: $ANSWER"
  json_is "$ANSWER" ".blocks == $1 and .lost_blocks == 0" "the job"
}

# cancels: the job; it ends as that.
cancels() {
  local cancelled
  cancelled=$(milliseconds)
  tapectl jobs cancel "$(job .name)" >/dev/null
  job_fails CANCELLED JOB_CANCELLED
  echo "cancelled within $(($(milliseconds) - cancelled)) ms"
}

# error_names NODE...: the error of the job names each.
error_names() {
  local i
  for i in "$@"; do [[ $ANSWER == *"${ADDRESSES[i]}"* ]] || fail "the error does not name ${ADDRESSES[i]}: $ANSWER"; done
}

# shellcheck disable=SC2016
job_is() { job '.state == $state and .resumes == $resumes' -e --arg state "$1" --argjson resumes "$2"; }

# job_waits [RESUMES]: for its node, after so many sessions that it has gone on with; ROUND unless told.
job_waits() { wait_for 10 job_is RESUMING "${1:-$ROUND}" || fail "the job does not wait for its node: $(job)"; }

# job_resumes: one time more, and moves blocks.
job_resumes() {
  local blocks
  blocks=$(job .blocks)
  wait_for 20 job_is RUNNING $((ROUND + 1)) || fail "the job does not go on: $(job)"
  wait_for 10 job_has_more_than "$blocks" || fail "no block comes: $(job)"
}

# grows [BLOCKS]: the job, by so many.
grows() { wait_for 20 job_has_more_than $(($(job .blocks) + ${1:-50})) || fail "the job does not go on: $(job)"; }

salvaged() { is_salvaged "$RECORDING" "$SEEN" "the recording"; }

# records_anew [CHANNEL]
records_anew() { is_whole "$(tapectl_json record "${1:-$CHANNEL}" --source synth --blocks 50)" "recording anew"; }

# one_whole_recording: of a stream that went on over every kill.
one_whole_recording() {
  local played sink=verify # knows what synth makes
  ((JOB_STATUS == 0)) || fail "the job failed: $ANSWER"
  is_whole "$ANSWER" "a recording over $((KILLS + 1)) sessions"
  json_is "$ANSWER" ".resumes == $KILLS and any(.notes[]; .code == \"STORAGE_AWAY\" and (.seconds | tonumber) > 0)" "the job"
  json_is "$(tapectl_json recordings list "$CHANNEL")" ".recordings | length == 1 and (.[0] | .state == \"SEALED\" and
    .blocks == $BLOCKS and .missing_blocks == 0)" "one recording"
  json_is "$(tapectl_json recordings verify "$CHANNEL/latest")" '.damaged == []' "the recording"
  ! is_device || sink=null
  played=$(tapectl_json play "$CHANNEL/latest" --sink "$sink") || fail "it does not play: $played"
  json_is "$played" ".blocks == $BLOCKS and .lost_blocks == 0" "playing it"
  echo "$BLOCKS blocks over $((KILLS + 1)) sessions"
}

no_token_is_shown() {
  ! grep -q 'resume_token' "$WORK"/*.log || fail "a token is in a log"
  ! tapectl_json recordings show "$CHANNEL/latest" | grep -q token || fail "a token is shown"
}

# plays_compared RECORDING BLOCKS: all of them, compared with what synth and the transforms make.
plays_compared() {
  local played
  played=$(tapectl_json play "$1" --sink verify) || fail "$1 does not verify: $played"
  is_whole "$played" "playing $1"
  json_is "$played" ".blocks == $2 and ([.notes[] | select(.code == \"CONTENT_NOT_COMPARED\")] == [])" "playing $1"
}

state_of() { tapectl_json lun list | jq -r --arg name "luns/$1" '.luns[] | select(.name == $name) | .state'; }
is_ready() { [[ $(state_of "$1") == READY ]]; }

# works_without LUN OTHER: the node has started without the member of one: it says so, and the other LUN works.
works_without() {
  local answer
  [[ $(state_of "$1") == OFFLINE && $(state_of "$2") == READY ]] || fail "$(tapectl_json lun list)"
  json_is "$(tapectl_json lun list)" "[.luns[] | select(.cause | contains(\"$WORK/member-$1\"))] | length == 1" "the cause"
  records_anew "$2/c0"
  answer=$(tapectl_json record "$1/c0" --source synth --blocks 1) && fail "recorded on a LUN that is offline: $answer"
  expect_error_in "$answer" FAILED_PRECONDITION LUN_OFFLINE
  json_is "$(tapectl_json recordings list "$1/c0")" '.recordings | length == 1' "recordings of the LUN that is offline"
}

# comes_back LUN: when its member does, with what was acknowledged.
comes_back() {
  wait_for 10 is_ready "$1" || fail "its disk is back: $(tapectl_json lun list)"
  json_is "$(tapectl_json recordings show "$RECORDING")" '.state == "SALVAGED"' "what was recorded"
}

# change_lun LUN: in all that a LUN and its channel c0 can be, also while they are recorded into.
change_lun() {
  mkdir "$WORK/more"
  tapectl lun update "$1" --capacity 4GB --max-age 72h --max-fill 90 --add-member "$WORK/more"
  tapectl lun update "$1" --prewrite-files 2 --prewrite-bytes 1MiB
  tapectl channel update "$1/c0" --block-bytes 128KiB --commit written
}

# lun_is_changed LUN
lun_is_changed() {
  json_is "$(tapectl_json lun list)" ".luns[] | select(.name == \"luns/$1\") | .capacity_bytes == 4000000000 and .max_age_s == 259200
    and .max_fill_percent == 90 and .prewrite_files == 2 and .prewrite_bytes == 1048576 and (.members | length) == 2" "the LUN"
  json_is "$(tapectl_json channel list "$1")" '.channels[0] | .block_bytes == 131072 and .commit_level == "written" and .sample_rate == 1e6' "the channel"
}
