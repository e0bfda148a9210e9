#!/usr/bin/env bash
# kill -9 of the storage node mid-record, again and again, and each time it is started anew: the job goes on and ends well, there
# is one recording, and it has every block. What has gone for good, and a job that is cancelled meanwhile, end at once.
#   node_restarts.sh [KILLS]    2 unless told, 100 with TAPEDECK_LONG, where a device sends that does not wait
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

KILLS=${1:-${TAPEDECK_LONG:+100}}
KILLS=${KILLS:-2}
BLOCKS=$(scaled 2000 400)
# shellcheck disable=SC2016
job_is() { job '.state == $state and .resumes == $resumes' -e --arg state "$1" --argjson resumes "$2"; }
# shellcheck disable=SC2016
job_has_more_than() { job '.state == "RUNNING" and .blocks > $blocks' -e --argjson blocks "$1"; }

# kill_and_restart RESUMES: as often it has gone on before.
kill_and_restart() {
  local blocks
  kill_service "$STORAGE_PID"
  wait_for 10 job_is RESUMING "$1" || fail "the job does not wait for its node: $(job)"
  blocks=$(job .blocks)
  start_storage
  wait_for 20 job_is RUNNING $(($1 + 1)) || fail "the job does not go on: $(job)"
  wait_for 10 job_has_more_than "$blocks" || fail "no block comes: $(job)"
}

begin_test
start_storage
start_worker
CAPACITY=8GiB lun_with_channel posix l0/c0 cf32_le 1MiB
tapectl lun create m0 --store memory --capacity 64MiB --full-policy ring >/dev/null
tapectl channel create m0/c0 --block-bytes 64KiB >/dev/null
if ((KILLS <= 2)); then
  start_job record l0/c0 --source synth --blocks "$BLOCKS"
else
  RECORD_OPTIONS=(--resume-for 60s)
  begin_ingest "udp=127.0.0.1:0,timeout=5"
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate 20MB --duration 1h --packet-bytes 1024 >"$WORK/sent.json" &
  sender=$!
  wait_for 10 job_has_more_than 0 || fail "nothing comes: $(job)"
fi
for ((kill = 0; kill < KILLS; ++kill)); do kill_and_restart "$kill"; done
if ((KILLS <= 2)); then
  end_job
else
  kill -INT "$sender" # it sends the end of the stream
  wait "$sender" || fail "the emulator failed"
  end_ingest
  BLOCKS=$(jq .blocks <<<"$ANSWER")
  echo "$KILLS kills, $BLOCKS blocks"
fi
((JOB_STATUS == 0)) || fail "the job failed: $ANSWER"
is_whole "$ANSWER" "a recording over $((KILLS + 1)) sessions"
json_is "$ANSWER" ".resumes == $KILLS and .blocks == $BLOCKS" "the job"
json_is "$ANSWER" 'any(.notes[]; .code == "STORAGE_AWAY" and (.seconds | tonumber) > 0)' "the time without a node"
recordings=$(tapectl_json recordings list l0/c0)
json_is "$recordings" ".recordings | length == 1 and (.[0] | .state == \"SEALED\" and .blocks == $BLOCKS and
  .missing_blocks == 0)" "one recording"
json_is "$(tapectl_json recordings verify l0/c0/latest)" '.damaged == []' "the recording"
sink=verify # knows what synth makes
((KILLS <= 2)) || sink=null
played=$(tapectl_json play l0/c0/latest --sink "$sink") || fail "it does not play: $played"
json_is "$played" ".blocks == $BLOCKS and .lost_blocks == 0" "playing it"
! grep -q 'resume_token' "$WORK"/*.log || fail "a token is in a log"
! tapectl_json recordings show l0/c0/latest | grep -q token || fail "a token is shown"

# Nothing of a memory LUN is there afterwards: the job fails, for the reason for which it lost its session.
start_job record m0/c0 --source synth:noise=0 --duration 60s
kill_service "$STORAGE_PID"
wait_for 10 job_is RESUMING 0 || fail "the job does not wait for its node: $(job)"
start_storage
end_job
((JOB_STATUS != 0)) || fail "a recording in memory has outlived its node: $ANSWER"
expect_error_in "$ANSWER" UNAVAILABLE PEER_LOST

start_job record l0/c0 --source synth --duration 60s
kill_service "$STORAGE_PID"
wait_for 10 job_is RESUMING 0 || fail "the job does not wait for its node: $(job)"
cancelled=$(milliseconds)
tapectl jobs cancel "$(job .name)" >/dev/null
end_job
expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
echo "cancelled within $(($(milliseconds) - cancelled)) ms"
