# shellcheck shell=bash disable=SC2034,SC2153
# The storage nodes of rados_test.sh, which sources this: one that is killed, a second one, and one that has the LUN after another.

# start_second: a node that knows nothing; sets SECOND.
start_second() {
  local port
  port=$(free_port)
  SECOND=127.0.0.1:$port
  start_service "$WORK/second.log" "$port" "$TAPEDECK_BIN/tapedeck-storage" --listen "$SECOND" \
    --state "$(mktemp -d -p "$WORK")" "${STORAGE_RAILS[@]}" "${STORAGE_OPTIONS[@]}"
}

# second_node: it is told who has the LUN, and takes nothing.
second_node() {
  local answer
  start_second
  answer=$(tapectl_json --storage "$SECOND" lun attach --member "$MEMBER" 2>&1) && fail "two nodes have the LUN: $answer"
  [[ $answer == *"in use by the storage node with pid $STORAGE_PID"* ]] || fail "the second node: $answer"
  stop_service "$SERVICE_PID"
}

kill_node() {
  local name seen killed
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  seen=$(job .blocks)
  kill_service "$STORAGE_PID"
  wait_for 10 job_is_over || fail "the job outlives its node"
  end_job
  killed=$(milliseconds)
  start_storage
  wait_for 15 is_closed "$name" || fail "$name after a kill: $(tapectl_json lun list)"
  echo "killed at block $seen; closed $(($(milliseconds) - killed)) ms after the start"
  json_is "$(tapectl_json recordings show "$name")" ".durable_watermark >= $seen" "durable blocks"
  is_salvaged "$name" "$seen" "the recording of a dead node"
  tapectl recordings delete "$name" >/dev/null
}

# take_over: the node is stopped for longer than its lease, another one has the LUN, and what the first one still had to write
# when it goes on reaches nobody.
take_over() {
  local name seen first=$TAPEDECK_STORAGE
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  seen=$(job .blocks)
  kill -STOP "$STORAGE_PID"
  wait_for 60 job_is_over || fail "the job outlives its node"
  end_job
  start_second
  export TAPEDECK_STORAGE=$SECOND
  wait_for 120 tapectl lun attach --member "$MEMBER" || fail "nobody gets the LUN: $(tapectl lun attach --member "$MEMBER" 2>&1)"
  is_salvaged "$name" "$seen" "a recording that was taken over"
  kill -CONT "$STORAGE_PID"
  wait_for 60 grep -q 'msg="LUN lost"' "$WORK/storage.log" || fail "the first node does not see that it has lost the LUN"
  is_salvaged "$name" "$seen" "a recording that was taken over, once the first node goes on"
  is_whole "$(tapectl_json record deep/synth --source synth --blocks 50 | tail -n 1)" "recording after a take-over"
  stop_service "$SERVICE_PID"
  export TAPEDECK_STORAGE=$first
  wait_for 60 lun_is READY || fail "the first node does not get the LUN back: $(tapectl_json lun list)"
}

# restart_with CONF: the node, on the cluster as that file has it.
restart_with() {
  stop_service "$STORAGE_PID"
  STORAGE_OPTIONS=(--ceph-conf "$1")
  start_storage
  wait_for 20 lun_is READY || fail "the LUN does not come back: $(tapectl_json lun list)"
}

# another_place: the LUN is taken along to a node that knows nothing of it.
another_place() {
  tapectl lun detach deep >/dev/null
  tapectl lun attach --member "$MEMBER" >/dev/null
  tapectl play "$ROUND_TRIP" --sink "file:$WORK/copy" --replace >/dev/null
  cmp "$WORK/source" "$WORK/copy" || fail "$ROUND_TRIP plays other bytes once attached"
}
