#!/usr/bin/env bash
# Two rails share the work; cutting the connections of one, or the whole rail for a while, loses nothing.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
own_the_rails "$@"

BLOCKS=$(scaled 3000)

# share ANSWER: each rail carried 35 to 65 % of the blocks.
share() {
  # shellcheck disable=SC2016
  json_is "$1" '([.rails[].blocks] | add) as $all | $all > 0 and (.rails | length) == 2
                and all(.rails[]; .blocks >= 0.35 * $all and .blocks <= 0.65 * $all)' "shares of the rails"
}

# record_through FAULT: a recording with the fault in its middle is whole, and plays back whole.
record_through() {
  local recording
  start_job record rails/c0 --source synth --blocks "$BLOCKS"
  "$1"
  end_job
  ((JOB_STATUS == 0)) || fail "recording through $1 failed: $ANSWER"
  is_whole "$ANSWER" "recording through $1"
  json_is "$ANSWER" ".blocks == $BLOCKS" "blocks recorded through $1"
  recording=$(jq -r .recording <<<"$ANSWER")
  tapectl recordings verify "$recording" >/dev/null
  play_through "$1" "$recording"
  tapectl recordings delete "$recording" >/dev/null
}

play_through() {
  start_job play "$2" --sink verify
  "$1"
  end_job
  ((JOB_STATUS == 0)) || fail "playing through $1 failed: $ANSWER"
  is_whole "$ANSWER" "playing through $1"
  json_is "$ANSWER" ".blocks == $BLOCKS" "blocks played through $1"
}

begin_test
start_storage
start_worker
CAPACITY=$((BLOCKS * 17 / 16))MiB lun_with_channel memory rails/c0 cf32_le 1MiB
answer=$(tapectl_json record rails/c0 --source synth --blocks $((BLOCKS / 2)))
share "$answer"
recording=$(jq -r .recording <<<"$answer")
share "$(tapectl_json play "$recording" --sink verify)"
tapectl recordings delete "$recording" >/dev/null
record_through cut_connections
record_through pull_cable
