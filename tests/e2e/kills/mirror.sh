# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: two copies of each block, on two members of a LUN or on two nodes.
# shellcheck source=tests/e2e/mirror_lib.sh
source "$TAPEDECK_ROOT/tests/e2e/mirror_lib.sh"

# one_copy_is_told: a node died, the other goes on, and the job says that there is one copy.
one_copy_is_told() {
  grows
  json_is "$(job)" '.notes | any(.part == "2" and .parts == "2" and .degraded_from != null)' "one copy"
}

# lacks_some: the node that was away has less than the other, all of which plays.
lacks_some() {
  json_is "$(job)" '.notes | any(.code == "ONE_COPY")' "what has one copy"
  RECORDING=$(newest) BLOCKS=$(job .blocks)
  plays "$RECORDING" "$BLOCKS" "a recording of which one node lacks some"
  json_is "$(at 0 recordings show "$RECORDING")" ".blocks == $BLOCKS and .missing_blocks == 0" "the node that stayed"
  json_is "$(at 1 recordings show "$RECORDING")" ".blocks - .missing_blocks < $BLOCKS" "the node that was away"
}

# repaired: RECORDING is whole on both nodes then.
repaired() {
  repair "a recording that one node has missed" "$RECORDING"
  are_equal "$RECORDING" "$(at 0 recordings show "$RECORDING" | jq .blocks)" "missed by one node"
}

# damaged_copy BLOCKS: a recording of half as many more, of which one node has so many damaged; all of it plays.
damaged_copy() {
  DAMAGED=$1 BLOCKS=$(($1 * 3 / 2 + 150))
  tapectl_json record l0/c0 --source synth --copies 2 --blocks "$BLOCKS" >/dev/null || fail "it does not record"
  RECORDING=$(newest)
  cp "$(data_of 1 "$RECORDING")" "$WORK/recorded.bin"
  damage 1 "$RECORDING" 100 "$DAMAGED"
  json_is "$(at 1 recordings verify "$RECORDING")" ".damaged | length == $DAMAGED" "what is damaged"
}

# repair_begins [PACE SECONDS]: and is at work or done after up to so many seconds.
repair_begins() {
  "$TAPEDECK_BIN/tapectl" repair --pace "$1" "$RECORDING" >/dev/null 2>"$WORK/repair.log" &
  REPAIR_PID=$!
  sleep "$((ROUND % $2)).$((RANDOM % 9 + 1))"
}

# kill_repair: tapectl, each third time the node that is written to.
kill_repair() {
  VICTIM=
  if ((ROUND % (KILLS / 2) % 3 == 1)); then kill_node 1; else kill_tapectl "$REPAIR_PID"; fi
}

# repair_is_left: all of it plays all the time. After half of the kills blocks of the other node are damaged, too, and others of this one.
repair_is_left() {
  [[ -z $VICTIM ]] || start_node "$VICTIM"
  wait "$REPAIR_PID" 2>/dev/null || true
  plays "$RECORDING" "$BLOCKS" "after kill $ROUND of a repair"
  ((ROUND + 1 == KILLS / 2)) || return 0
  damage 0 "$RECORDING" 0 50
  damage 1 "$RECORDING" $((BLOCKS - 40)) 10
}

# repair_ends: one that nobody kills; both copies are what was recorded.
repair_ends() {
  repair "damaged copies" "$RECORDING"
  are_equal "$RECORDING" "$BLOCKS" "repaired"
  plays "$RECORDING" "$BLOCKS" "repaired copies"
  cmp "$WORK/recorded.bin" "$(data_of 1 "$RECORDING")" || fail "what was repaired has other bytes than what was recorded"
}

is_in_state() { [[ $(state_of m) == "$1" ]]; }
cause_has() { tapectl_json lun list | jq -e --arg text "$1" '.luns[0].cause | contains($text)' >/dev/null; }
plays_whole() { is_whole "$(tapectl_json play "$1" --sink verify)" "$2"; }

# scrub WHAT: all of it, after which both copies are whole.
scrub() {
  tapectl_json scrub start m --restart --rate 10GB >"$WORK/scrub.json" || fail "the scrub: $(cat "$WORK/scrub.json")"
  wait_for 10 is_in_state READY || fail "$1: not whole after the scrub: $(tapectl_json lun list) $(cat "$WORK/scrub.json")"
}

# two_members: a LUN of two copies on two members, and what cannot be one.
two_members() {
  local answer
  start_nodes 1
  start_worker
  mkdir "$WORK"/m{0,1}
  answer=$(tapectl_json lun create n --store posix --member "$WORK/m0" --copies 2) && fail "one member has two copies: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  tapectl lun create m --store posix --member "$WORK/m0" --member "$WORK/m1" --copies 2 >/dev/null
  tapectl channel create m/c0 --datatype cf32_le --block-bytes 256KiB --sample-rate 1e6 >/dev/null
  json_is "$(tapectl_json lun list)" '.luns[0].copies == 2 and .luns[0].state == "READY"' "a new LUN"
}

# member_goes_while_recording: that does not end the recording, the LUN is DEGRADED and says which, and a scrub mends what the
# member has missed. RECORDING: that recording.
member_goes_while_recording() {
  record --slots 8 --duration 600s
  wait_for 15 job_has_more_than 20 || fail "the job did not get going"
  mv "$WORK/m1" "$WORK/away"
  wait_for 10 is_in_state DEGRADED || fail "a member is gone: $(tapectl_json lun list)"
  cause_has "$WORK/m1" || fail "the cause names no member: $(tapectl_json lun list)"
  grows 40
  mv "$WORK/away" "$WORK/m1"
  wait_for 10 cause_has "one copy is whole" || fail "the member is back: $(tapectl_json lun list)"
  cancels
  RECORDING=$(newest_recording)
  plays_whole "$RECORDING" "with one copy"
  scrub "the member was away"
  cmp "$WORK"/m{0,1}/c0/"${RECORDING##*/}"/data || fail "the copies differ"
}

# members_are_damaged: what is damaged on one copy plays right, and a scrub mends it.
members_are_damaged() {
  printf 'damage' | dd of="$WORK/m0/c0/${RECORDING##*/}/data" bs=1 seek=$((3 * 262144 + 7)) conv=notrunc status=none
  rm "$WORK/m1/c0/${RECORDING##*/}/index"
  plays_whole "$RECORDING" "with a block and an index damaged"
  scrub "damage"
  json_is "$(tapectl_json scrub show m)" '.repaired == .damaged and .repaired > 0' "what the scrub mended"
  cmp "$WORK"/m{0,1}/c0/"${RECORDING##*/}"/data || fail "the copies differ after the damage"
}

# members_move: the first is away for a round and is back in the next; in the third the second is away.
members_move() {
  case $ROUND in
    0) mv "$WORK/m0" "$WORK/away" ;;
    1) mv "$WORK/away" "$WORK/m0" ;;
    2) mv "$WORK/m1" "$WORK/away" ;;
  esac
}

# members_hold: what the members that are there have.
members_hold() {
  case $ROUND in
    0)
      is_in_state DEGRADED || fail "started with one member: $(tapectl_json lun list)"
      plays_whole "$RECORDING" "from the second member alone"
      SECOND=$(tapectl_json record m/c0 --source synth --blocks 30 | tail -n 1 | jq -r .recording)
      ;;
    1)
      cause_has "$WORK/m0 is behind since" || fail "the first member missed a recording: $(tapectl_json lun list)"
      scrub "a recording was made without the first member"
      ;;
    2)
      plays_whole "$RECORDING" "from the first member alone"
      plays_whole "$SECOND" "what was recorded without it"
      ;;
  esac
}
