#!/usr/bin/env bash
# A LUN whose disk does not answer any more (a frozen file system): recordings on another LUN go on, lists and health are
# answered, what wants the frozen disk is told so, a stop request ends the node in time, and nothing is lost.
source "$(dirname "${BASH_SOURCE[0]}")/frozen_disk.sh"

# answers WHAT COMMAND...: within 2 s, on a machine as fast as it was told.
answers() {
  local began
  began=$(milliseconds)
  "${@:2}" >/dev/null || fail "$1 fails beside a LUN that is frozen"
  (($(milliseconds) - began < $(slow 2000))) || fail "$1 took $(($(milliseconds) - began)) ms"
}

# blocks_in SECONDS: how many blocks the recording gets in that time.
blocks_in() {
  local before
  before=$(job_of good | jq .blocks)
  sleep "$1"
  echo $(($(job_of good | jq .blocks) - before))
}

begin_test
begin_disk
mkdir "$WORK/member-good" "$WORK/disk/member"
start_storage
start_worker
tapectl lun create good --store posix --member "$WORK/member-good" --capacity 40GiB --full-policy ring >/dev/null
tapectl lun create frozen --store posix --member "$WORK/disk/member" >/dev/null
tapectl channel create good/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 --segment 2MiB >/dev/null
tapectl channel create frozen/c0 --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null
OLD=$(tapectl_json record frozen/c0 --source synth --blocks 20 | tail -n 1 | jq -r .recording)
start_job record good/c0 --source synth --slots 8 --duration 600s --resume-for 0s
recording=$(job_of good | jq -r .recording)
alone=$(blocks_in 2)
freeze
crowd
sleep 1
beside=$(blocks_in 2)
((beside > 0)) || fail "a recording on another LUN stands still"
answers "a list of LUNs" tapectl_json lun list
answers "a list of recordings" tapectl_json recordings list
answers "a node's description" tapectl_json nodes
echo "a recording beside eight sessions that wait for a frozen disk: $beside blocks in 2 s, $alone without them"
acknowledged=$(job_of good | jq .blocks)

ends_in_time "frozen"
wait "${CROWD[@]}" || true
end_job

start_storage
[[ $(tapectl_json recordings show "$recording" --segment 0 | jq -r .state) == SEALED ]] || fail "the healthy recording: $(tapectl_json recordings show "$recording")"
kept=$(tapectl_json recordings list --segments good/c0 | jq '[.recordings[].blocks] | add')
((kept >= acknowledged)) || fail "$acknowledged blocks were acknowledged, $kept are there"
is_whole "$(tapectl_json play "$OLD" --sink verify)" "what the frozen disk had"
is_whole "$(tapectl_json record frozen/c0 --source synth --blocks 5 | tail -n 1)" "recording after the disk has thawed"
