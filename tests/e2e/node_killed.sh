#!/usr/bin/env bash
# kill -9 of the storage node mid-record: the job fails within 5 s and names node and cause; after a restart the
# recording verifies, at least up to what was acknowledged.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

job_ended() { ! kill -0 "$JOB_PID"; }

begin_test
start_storage
start_worker
CAPACITY=$(scaled 6144)MiB lun_with_channel posix l0/c0 cf32_le 1MiB
start_job record l0/c0 --source synth --duration 60s --resume-for 0s
recording=$(newest_recording)
seen=$(job .blocks)
killed=$(milliseconds)
kill_service "$STORAGE_PID"
wait_for 5 job_ended || fail "the job still runs 5 s after the node's death: $(job)"
echo "failed $(($(milliseconds) - killed)) ms after the node's death"
end_job
((JOB_STATUS != 0)) || fail "the job reports success: $ANSWER"
expect_error_in "$ANSWER" UNAVAILABLE 'PEER_LOST|NODE_UNREACHABLE'
[[ $ANSWER == *"$TAPEDECK_STORAGE"* ]] || fail "the error does not name the node $TAPEDECK_STORAGE: $ANSWER"

start_storage
wait_for 10 is_closed "$recording" || fail "after restart: $(tapectl_json recordings show "$recording")"
shown=$(tapectl_json recordings show "$recording")
json_is "$shown" ".durable_watermark >= $seen" "durable blocks"
is_salvaged "$recording" "$seen" "the recording of a dead node"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 50)" "recording anew"
