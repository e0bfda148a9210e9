# shellcheck shell=bash disable=SC2034,SC2153
# What befalls the cluster of rados_test.sh, which sources this, while something is recorded: OSDs and the monitor are killed, hang or
# are cut off, and there is no room.

kill_osd() {
  local name seen
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster kill-osd "$1"
  seen=$(job .blocks)
  wait_for 30 blocks_are $((seen + 50)) || fail "no block is stored after OSD $1 was killed: $(job)"
  cancel_job
  is_sound "$name" "a recording beside a dead OSD"
  tapectl recordings delete "$name" >/dev/null
  cluster start-osd "$1"
}

# silence_osd N SILENCE BACK WHAT: by these orders it answers nothing, and is back; until it counts as down the blocks wait in the
# ring.
silence_osd() {
  local name seen began
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster "$2" "$1"
  began=$(milliseconds)
  seen=$(job .blocks)
  wait_for 40 blocks_are $((seen + 100)) || fail "no block is stored after OSD $1 $4: $(job)"
  echo "OSD $1 $4: 100 blocks later after $(($(milliseconds) - began)) ms"
  cluster "$3" "$1"
  cancel_job
  is_sound "$name" "a recording beside an OSD that $4"
  tapectl recordings delete "$name" >/dev/null
}

# no_answer: two of three OSDs hang. Nothing is acknowledged by a time that is over, and the error says where and why.
no_answer() {
  local name seen began
  restart_with "$CLUSTER_DIR/short.conf"
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  cluster hang-osd 1
  cluster hang-osd 2
  began=$(milliseconds)
  wait_for 60 job_is_over || fail "the job waits for a cluster that does not answer: $(job)"
  end_job
  seen=$(job .blocks)
  echo "no answer: the job ends after $(($(milliseconds) - began)) ms: $(jq -r '.error.message // empty' "$WORK/job.json" | head -c 200)"
  expect_error_in "$ANSWER" INTERNAL STORE_IO
  [[ $ANSWER == *"$MEMBER"* && $ANSWER == *"did not answer in time"* ]] || fail "the error names neither pool nor cause: $ANSWER"
  cluster cont-osd 1
  cluster cont-osd 2
  restart_with "$CLUSTER_DIR/ceph.conf"
  wait_for 30 is_closed "$name" || fail "$name is not closed: $(tapectl_json lun list)"
  is_salvaged "$name" "$seen" "what was recorded before no OSD answered"
}

# no_monitor: whoever is connected goes on; whoever is not is told in time.
no_monitor() {
  local name seen began answer
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster kill-mon
  seen=$(job .blocks)
  wait_for 30 blocks_are $((seen + 100)) || fail "no block is stored after the monitor was killed: $(job)"
  cancel_job
  is_sound "$name" "a recording without a monitor"
  began=$(milliseconds)
  answer=$(tapectl_json lun create more --store rados --member rados:tape/more --capacity 1GiB 2>&1) && fail "made without a monitor"
  expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
  echo "no monitor: a LUN is refused within $(($(milliseconds) - began)) ms"
  cluster start-mon
}

# full: it ends at a block, is closed, verifies and is deleted while the cluster is full.
full() {
  local name began
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster full
  began=$(milliseconds)
  wait_for 60 job_is_over || fail "the job goes on into a full cluster: $(job)"
  end_job
  echo "full: the job ends after $(($(milliseconds) - began)) ms: $(jq -r '.error.message // empty' "$WORK/job.json" | head -c 200)"
  expect_error_in "$ANSWER" RESOURCE_EXHAUSTED LUN_FULL
  [[ $ANSWER == *"pool tape has no room"* ]] || fail "the error does not name the pool: $ANSWER"
  wait_for 20 is_closed "$name" || fail "$name is not closed on a full cluster: $(tapectl_json recordings show "$name")"
  json_is "$(tapectl_json recordings show "$name")" '.blocks - .missing_blocks > 0' "$name"
  json_is "$(tapectl_json recordings verify "$name" | tail -n 1)" '[(.damaged // [])[] | select(.kind != "missing")] == []' "$name"
  tapectl recordings delete "$name" >/dev/null || fail "nothing can be deleted on a full cluster"
  cluster empty
  wait_for 30 records_again || fail "nothing can be recorded once there is room: $(tapectl_json record deep/synth --source synth --blocks 8 2>&1)"
}

records_again() { tapectl record deep/synth --source synth --blocks 8; }
