#!/usr/bin/env bash
# Two storage nodes with the same LUN to take over (--standby-for), here on a directory that both see, and a worker that goes on at the
# other one (record --standby): the node that has the LUN is killed again and again, and there is one recording with every block.
#   standby.sh [TAKE_OVERS]    2 unless told, 100 with TAPEDECK_LONG
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

CHANNEL=pair/c0
TAKE_OVERS=${1:-${TAPEDECK_LONG:+100}}
TAKE_OVERS=${TAKE_OVERS:-2}
PORTS=() PIDS=()

address() { echo "127.0.0.1:${PORTS[$1]}"; }

# start_node N: again after a kill it keeps its port and state.
start_node() {
  PORTS[$1]=${PORTS[$1]:-$(free_port)}
  start_service "$WORK/node$1.log" "${PORTS[$1]}" "$TAPEDECK_BIN/tapedeck-storage" --listen "$(address "$1")" \
    --state "$WORK/state$1" "${STORAGE_RAILS[@]}" --standby-for "$WORK/member"
  PIDS[$1]=$SERVICE_PID
}

lun_is() { tapectl_json --storage "$(address "$1")" lun list | jq -e "[.luns[] | select(.state == \"$2\")] | length == 1"; }

# use N: the node that has the LUN; OTHER is the other one.
use() {
  HOLDER=$1 OTHER=$((1 - $1))
  TAPEDECK_STORAGE=$(address "$1")
  export TAPEDECK_STORAGE
}

# shellcheck disable=SC2016
resumed() { job '.state == "RUNNING" and .resumes == $resumes' -e --argjson resumes "$1"; }

begin_test
mkdir "$WORK/member"
start_node 0
start_node 1
use 0
start_worker
tapectl lun create pair --store posix --member "$WORK/member" --capacity 8GiB >/dev/null
tapectl channel create pair/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
wait_for 20 lun_is 1 STANDBY || fail "the second node is no standby: $(tapectl_json --storage "$(address 1)" lun list)"
answer=$(tapectl_json --storage "$(address 1)" record pair/c0 --source synth --blocks 1 2>&1) && fail "a standby records: $answer"
expect_error_in "$answer" FAILED_PRECONDITION LUN_OFFLINE
[[ $answer == *"pid ${PIDS[0]}"* ]] || fail "a standby does not say who has the LUN: $answer"
answer=$(tapectl_json record pair/c0 --source synth --blocks 1 --standby "$TAPEDECK_STORAGE" 2>&1) && fail "a node is its own standby"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID

# A device of a low rate, which waits for the job.
RECORD_OPTIONS=(--standby "$(address 1)")
begin_ingest tcp=127.0.0.1:0,timeout=30
"$TAPEDECK_BIN/tapedeck-emulator" --tcp "127.0.0.1:$PORT" --rate 8MB --duration $((4 * TAKE_OVERS + 1))s >"$WORK/sent.json" &
wait_for 10 resumed 0 || fail "the job does not run: $(job)"
for ((round = 0; round < TAKE_OVERS; ++round)); do
  began=$(milliseconds)
  kill_service "${PIDS[$HOLDER]}"
  wait_for 30 resumed $((round + 1)) || fail "the job does not go on at the other node: $(job)"
  echo "killed: the job goes on after $(($(milliseconds) - began)) ms"
  start_node "$HOLDER"
  use "$OTHER"
  wait_for 20 lun_is "$OTHER" STANDBY || fail "what came back is no standby: $(tapectl_json --storage "$(address "$OTHER")" lun list)"
done
end_ingest
json_is "$ANSWER" ".state == \"SUCCEEDED\" and .resumes == $TAKE_OVERS and .lost_blocks == 0" "the job"
name=$(jq -r .recording <<<"$ANSWER")
recordings=$(tapectl_json recordings list pair/c0)
json_is "$recordings" ".recordings | length == 1 and (.[0] | .name == \"$name\" and .state == \"SEALED\" and .missing_blocks == 0)" \
  "one recording"
json_is "$(tapectl_json recordings show "$name")" ".bytes == 8 * $(jq .samples "$WORK/sent.json")" "all that was sent"
json_is "$(tapectl_json recordings verify "$name")" '.damaged == []' "the recording"
is_whole "$(tapectl_json play "$name" --sink verify | tail -n 1)" "playing it"

# Nobody is there any more: the error names both.
start_job record pair/c0 --source synth --duration 600s --standby "$(address "$OTHER")" --resume-for 3s
kill_service "${PIDS[0]}"
kill_service "${PIDS[1]}"
end_job
expect_error_in "$ANSWER" UNAVAILABLE PEER_LOST
[[ $ANSWER == *"$(address 0)"* && $ANSWER == *"$(address 1)"* ]] || fail "the error does not name the nodes: $ANSWER"
