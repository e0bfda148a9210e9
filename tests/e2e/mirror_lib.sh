# shellcheck shell=bash disable=SC2034
# Sourced after nodes_lib.sh: a recording of l0/c0 with two copies, one on each of two nodes, and what lies on their disks.
BLOCK=65536

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

# repair WHAT RECORDING: both parts are whole then.
repair() {
  REPAIRED=$(tapectl_json repair "$2") || fail "repair of $1: $REPAIRED"
  json_is "$REPAIRED" '.lost_blocks == 0 and ([.parts[] | select(.found != "whole" and (.repaired | not))] == [])' "repair of $1"
}

# are_equal RECORDING BLOCKS WHAT: each node has all of it, in the same bytes, and nothing is left of a repair.
are_equal() {
  local i
  for i in 0 1; do
    is_whole_at "$i" "$1" "$2" "$3"
    json_is "$(at "$i" recordings list l0/c0)" '[.recordings[] | select(.origin.repairs != "")] == []' "what a repair leaves on node $i"
  done
  cmp "$(data_of 0 "$1")" "$(data_of 1 "$1")" || fail "$3: the copies differ"
}
