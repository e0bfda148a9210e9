#!/usr/bin/env bash
# kill -9 of the worker mid-record: within 5 s the node has sealed the recording, it verifies, and a new session
# can start.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_test
start_storage
start_worker
CAPACITY=$(scaled 6144 2048)MiB lun_with_channel posix l0/c0 cf32_le 1MiB
start_job record l0/c0 --source synth --duration 60s
recording=$(newest_recording)
seen=$(job .blocks)
killed=$(milliseconds)
kill_service "$WORKER_PID"
wait_for 5 is_closed "$recording" || fail "5 s after the worker's death: $(tapectl_json recordings show "$recording")"
echo "sealed $(($(milliseconds) - killed)) ms after the worker's death"
end_job
((JOB_STATUS != 0)) || fail "tapectl reports success for a job whose worker died: $ANSWER"
shown=$(tapectl_json recordings show "$recording")
json_is "$shown" ".blocks >= $seen" "blocks that were acknowledged"
start_worker
is_salvaged "$recording" "$seen" "the recording of a dead worker"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 50)" "recording anew"
