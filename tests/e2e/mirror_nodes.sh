#!/usr/bin/env bash
# One recording with two copies of each block, each on a node of its own. Blocks that are damaged on one node's disk play from the
# other. tapectl repair makes each part whole from the other, and then each alone has all; what is damaged on both is a gap.
#   mirror_nodes.sh [DAMAGED]    so many blocks are damaged; default 300, with TAPEDECK_LONG 10000
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"
# shellcheck source=tests/e2e/mirror_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/mirror_lib.sh"

DAMAGED=${1:-${TAPEDECK_LONG:+10000}}
DAMAGED=${DAMAGED:-300}
BLOCKS=$((DAMAGED * 3 / 2 + 150))

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

# Blocks of the other node are damaged, too, and others of this one.
damage 0 "$name" 0 50
damage 1 "$name" $((BLOCKS - 40)) 10
repair "damaged copies" "$name"
are_equal "$name" "$BLOCKS" "repaired"
plays "$name" "$BLOCKS" "repaired copies"
cmp "$WORK/damaged.bin" "$(data_of 1 "$name")" || fail "what was repaired has other bytes than what was recorded"
repair "what is whole" "$name"
json_is "$REPAIRED" '[.parts[] | select(.found != "whole" or .repaired)] == []' "repair of what is whole"
echo "repaired"

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
