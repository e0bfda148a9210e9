#!/usr/bin/env bash
# One recording with two copies of each block, each on a node of its own. Blocks that are damaged on one node's disk play from the
# other; a node that is killed while it is recorded into does not end the job, which says since when there is one copy. tapectl
# repair makes each part whole from the other, also where it is killed on the way and asked for again, and then each alone has all.
#   mirror_nodes.sh [DAMAGED]    so many blocks are damaged; default 300, with TAPEDECK_LONG 10000
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"

DAMAGED=${1:-300}
KILLS=2 PACE=30MB LONGEST=1
[[ -z ${TAPEDECK_LONG:-} ]] || { DAMAGED=10000 KILLS=25 PACE=500MB LONGEST=5; }
BLOCK=65536
BLOCKS=$((DAMAGED * 3 / 2 + 150))

newest() { tapectl_json recordings list l0/c0 | jq -r '.recordings[0].name'; }
data_of() { echo "$WORK/member$1/c0/${2##*/}/data"; }

# damage I RECORDING FIRST COUNT: changes the bytes of so many of its blocks on that node's disk.
damage() {
  python3 - "$(data_of "$1" "$2")" "$BLOCK" "$3" "$4" <<'PYTHON'
import sys

path, block, first, count = sys.argv[1], *map(int, sys.argv[2:])
with open(path, "r+b") as data:
    for number in range(first, first + count):
        data.seek(number * block + number % (block - 8))
        old = data.read(8)
        data.seek(-8, 1)
        data.write(bytes(byte ^ 0xFF for byte in old))
PYTHON
}

# plays RECORDING BLOCKS WHAT. READ: blocks that came from the nodes for it.
plays() {
  local played
  played=$(tapectl_json play "$1" --sink verify) || fail "$3 does not play: $played"
  json_is "$played" ".blocks == $2 and .lost_blocks == 0" "playing $3"
  READ=$(jq '[.rails[].blocks] | add' <<<"$played")
}

# is_whole_at I RECORDING BLOCKS WHAT: that node alone has all of it.
is_whole_at() {
  json_is "$(at "$1" recordings verify "$2")" ".damaged == [] and .checked_blocks == $3" "$4: node $1"
  json_is "$(at "$1" recordings show "$2")" ".state == \"SEALED\" and .blocks == $3 and .missing_blocks == 0" "$4: node $1"
}

runs_again() { job '.notes | any(.code == "PART_GOES_ON")' -e; }

# repair WHAT RECORDING: both parts are whole then.
repair() {
  REPAIRED=$(tapectl_json repair "$2") || fail "repair of $1: $REPAIRED"
  json_is "$REPAIRED" '.lost_blocks == 0 and ([.parts[] | select(.found != "whole" and (.repaired | not))] == [])' "repair of $1"
}

# Nothing is left of how it came to be.
is_alone() {
  for i in 0 1; do
    json_is "$(at "$i" recordings list l0/c0)" "[.recordings[] | select(.origin.repairs != \"\")] == []" "what a repair leaves on node $i"
  done
}

# kill_repair NUMBER: while it is at work, or when it is done; each third time the node that is written to.
kill_repair() {
  local pid
  "$TAPEDECK_BIN/tapectl" repair --pace "$PACE" "$name" >/dev/null 2>"$WORK/repair.log" &
  pid=$!
  sleep "$(($1 % LONGEST)).$((RANDOM % 9 + 1))"
  if (($1 % 3 == 1)); then
    kill_service "${PIDS[1]}"
    start_node 1
  else
    kill -KILL "$pid" 2>/dev/null || true
  fi
  wait "$pid" 2>/dev/null || true
}

begin_test
export XDG_STATE_HOME=$WORK/kept
for i in 0 1; do
  PORTS[i]=$(free_port)
  ADDRESSES[i]=127.0.0.1:${PORTS[i]}
  start_node "$i"
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
  at "$i" channel create l0/c0 --datatype cf32_le --block-bytes "$BLOCK" --sample-rate 1e6 >/dev/null
done
TAPEDECK_STORAGE=$(IFS=, && echo "${ADDRESSES[*]}")
export TAPEDECK_STORAGE
start_worker

answer=$(at 0 record l0/c0 --source synth --blocks 8 --copies 2) && fail "two copies on one node: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID

# Each node has each block, in its order.
recorded=$(tapectl_json record l0/c0 --source synth --copies 2 --blocks "$BLOCKS") || fail "it does not record: $recorded"
json_is "$recorded" ".blocks == $BLOCKS and .lost_blocks == 0 and (.notes | any(.code == \"ONE_COPY\" or .degraded_from != null) | not)" "two copies"
name=$(newest)
for i in 0 1; do is_whole_at "$i" "$name" "$BLOCKS" "recorded"; done
cmp "$(data_of 0 "$name")" "$(data_of 1 "$name")" || fail "the copies differ"
tapectl recordings list l0/c0 | grep -q '2 parts, 2 copies' || fail "the list does not say how many copies there are"
plays "$name" "$BLOCKS" "both copies"
((READ <= BLOCKS + 257)) || fail "of two copies that are whole $READ blocks are read, of $BLOCKS"

# Blocks are damaged on one node. What a look finds is not changed by it.
damage 1 "$name" 100 "$DAMAGED"
json_is "$(at 1 recordings verify "$name")" ".damaged | length == $DAMAGED" "what is damaged"
plays "$name" "$BLOCKS" "a damaged copy"
exported=$(tapectl_json recordings export "$name" --format raw --to "$WORK/damaged.bin") || fail "no export: $exported"
json_is "$exported" ".missing_samples == 0 and .bytes == $BLOCKS * $BLOCK" "an export of a damaged copy"
answer=$(tapectl_json repair --look "$name") && fail "a damaged copy is whole: $answer"
expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
json_is "$answer" ".lost_blocks == 0 and ([.parts[].damaged_blocks] == [0, $DAMAGED]) and .parts[1].blocks == \"100-$((99 + DAMAGED))\"" "a look"
json_is "$(at 1 recordings verify "$name")" ".damaged | length == $DAMAGED" "after a look"
echo "$DAMAGED damaged blocks on one node: all play"

# Repairs are killed at any moment, and all of it plays all the time.
for ((kill = 0; kill < KILLS; ++kill)); do
  kill_repair "$kill"
  plays "$name" "$BLOCKS" "after kill $kill of a repair"
done
# Then blocks of the other node are damaged, too, and others of this one.
damage 0 "$name" 0 50
damage 1 "$name" $((BLOCKS - 40)) 10
for ((kill = 0; kill < KILLS; ++kill)); do kill_repair "$kill"; done
repair "damaged copies" "$name"
is_alone
for i in 0 1; do is_whole_at "$i" "$name" "$BLOCKS" "repaired"; done
cmp "$(data_of 0 "$name")" "$(data_of 1 "$name")" || fail "the repaired copies differ"
plays "$name" "$BLOCKS" "repaired copies"
cmp "$WORK/damaged.bin" "$(data_of 1 "$name")" || fail "what was repaired has other bytes than what was recorded"
repair "what is whole" "$name"
json_is "$REPAIRED" '[.parts[] | select(.found != "whole" or .repaired)] == []' "repair of what is whole"
echo "repaired, with $((KILLS * 2)) kills of the repair"

# One node has lost the index of its part, and then all of it.
rm "$WORK/member1/c0/${name##*/}/index"
repair "a part without its index" "$name"
is_whole_at 1 "$name" "$BLOCKS" "a part without its index"
at 1 recordings delete "$name" >/dev/null
repair "a part that is gone" "$name"
json_is "$REPAIRED" '.parts[1] | .found == "absent" and .repaired' "a part that is gone"
is_whole_at 1 "$name" "$BLOCKS" "a part that was gone"

# What is damaged on both is a gap, which is named, and what is good of it stays.
damage 0 "$name" 7 1
damage 1 "$name" 7 3
answer=$(tapectl_json repair "$name") && fail "a block that is damaged twice is mended: $answer"
expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
json_is "$answer" '.lost_blocks == 1 and (.error.message | contains("blocks 7 whole"))' "a block that is damaged twice"
answer=$(tapectl_json play "$name" --sink null) && fail "a block that is damaged twice plays: $answer"
json_is "$answer" ".lost_blocks == 1 and .blocks == $BLOCKS" "a gap"
# A label is no mark of a draft: a repair neither uses nor deletes what a user has labelled.
own=$(at 1 recordings import l0/c0 "$WORK/damaged.bin" --format raw | jq -r .recording)
at 1 recordings update "$own" --label "repairs=${name##*/}" >/dev/null
answer=$(tapectl_json repair "$name") && fail "a label makes a draft: $answer"
expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
at 1 recordings show "$own" >/dev/null || fail "a repair has deleted what a user has labelled"
at 1 recordings delete "$own" >/dev/null
answer=$(tapectl_json repair --leave-gaps "$name") || fail "a repair that leaves gaps: $answer"
json_is "$answer" '.lost_blocks == 1 and ([.parts[].repaired] == [true, true])' "a repair that leaves gaps"
for i in 0 1; do
  json_is "$(at "$i" recordings verify "$name")" '[.damaged[] | [.sequence, .kind]] == [[7, "missing"]]' "a gap on node $i"
done
answer=$(TAPEDECK_STORAGE=${ADDRESSES[0]} tapectl_json repair "$name") && fail "repair of one node: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
tapectl record l0/c0 --source synth --blocks 40 >/dev/null
answer=$(tapectl_json repair l0/c0/latest) && fail "repair of what has one copy: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID

# A node is killed while it is recorded into: the job ends well, and says that there is one copy.
start_job record l0/c0 --source synth:noise=0 --copies 2 --duration 1h --resume-for 60s
wait_for 10 job_has_more_than 100 || fail "it does not record: $(job)"
kill_service "${PIDS[1]}"
wait_for 20 job_has_more_than $(($(job .blocks) + 50)) || fail "the other node does not go on: $(job)"
json_is "$(job)" '.notes | any(.part == "2" and .parts == "2" and .degraded_from != null)' "one copy"
start_node 1
wait_for 20 runs_again >/dev/null || fail "the node does not come back: $(job)"
wait_for 10 job_has_more_than $(($(job .blocks) + 50)) || fail "it does not go on with two: $(job)"
tapectl jobs cancel "$(job .name)" >/dev/null
end_job
expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
json_is "$(job)" '.notes | any(.code == "ONE_COPY")' "what has one copy"
killed=$(newest) killed_blocks=$(job .blocks)
plays "$killed" "$killed_blocks" "a recording of which one node lacks some"
json_is "$(at 0 recordings show "$killed")" ".blocks == $killed_blocks and .missing_blocks == 0" "the node that stayed"
json_is "$(at 1 recordings show "$killed")" ".blocks - .missing_blocks < $killed_blocks" "the node that was away"

# One that stays away: the job ends well all the same.
start_job record l0/c0 --source synth:noise=0 --copies 2 --blocks 3000 --resume-for 60s
kill_service "${PIDS[1]}"
end_job
((JOB_STATUS == 0)) || fail "the job failed with one node: $ANSWER"
json_is "$ANSWER" '.blocks == 3000 and .lost_blocks == 0 and (.notes | any(.code == "ONE_COPY"))' "one node is left"
away=$(newest)
start_node 1
plays "$away" 3000 "a recording that went on with one copy"
for name in "$killed" "$away"; do
  repair "a recording that one node has missed" "$name"
  blocks=$(at 0 recordings show "$name" | jq .blocks)
  for i in 0 1; do is_whole_at "$i" "$name" "$blocks" "missed by one node"; done
  cmp "$(data_of 0 "$name")" "$(data_of 1 "$name")" || fail "the copies differ after a repair"
done
is_alone
echo "a node was killed while recording, and has all after a repair"
