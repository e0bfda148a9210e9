# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: recordings move to another node while tapectl, source and target are killed in turn, at any moment. Then the
# move is asked for again until it is done. At no time is there less than one whole copy.
MOVED_BLOCKS=120

# moves_site: fast on the first node and deep on the second one.
moves_site() {
  export XDG_STATE_HOME=$WORK/kept
  start_nodes 2
  over 0
  start_worker
  lun_with_channel posix fast/c cf32_le 64KiB
  lun_with_channel direct deep/c cf32_le 64KiB
  mkdir "$WORK/member-second"
  at 1 lun create deep --store posix --member "$WORK/member-second" >/dev/null
  at 1 channel create deep/c --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
}

# whole_copy_in LIST: it has one sealed copy of ORIGINAL.
# shellcheck disable=SC2016
whole_copy_in() {
  jq -e --arg original "$ORIGINAL" --argjson blocks "$MOVED_BLOCKS" \
    '[.recordings[] | select(.original == $original and .state == "SEALED" and .blocks == $blocks)] | length == 1' <<<"$1" >/dev/null
}

# move_begins: and is at work for up to 0.9 s.
move_begins() {
  tapectl_json record fast/c --source synth --blocks "$MOVED_BLOCKS" >/dev/null || fail "no recording"
  ORIGINAL=$(newest_recording)
  at 1 recordings list >/dev/null
  # The program itself: a kill of a shell around it would leave it running.
  "$TAPEDECK_BIN/tapectl" --output json recordings move "$ORIGINAL" --to "${ADDRESSES[1]}/deep/c" --pace 10MB \
    >"$WORK/move.json" 2>"$WORK/move.log" &
  MOVE_PID=$!
  sleep "0.$((RANDOM % 80 + 10))"
}

kill_in_move() {
  case $((ROUND % 3)) in
    0) kill_tapectl "$MOVE_PID" ;;
    1) kill_node 0 && start_node 0 ;;
    2) kill_node 1 && start_node 1 ;;
  esac
}

# move_ends: by itself, or when it is asked for again.
move_ends() {
  local status=0 answer
  wait "$MOVE_PID" || status=$?
  if ((status != 0)); then
    if ! tapectl_json recordings show "$ORIGINAL" | jq -e ".blocks == $MOVED_BLOCKS" >/dev/null; then
      whole_copy_in "$(at 1 recordings list)" || fail "round $ROUND: neither the original nor a copy is whole"
    fi
    answer=$(tapectl_json recordings move "$ORIGINAL" --to "${ADDRESSES[1]}/deep/c") ||
      fail "round $ROUND: moving again: $answer $(cat "$WORK/move.json") $(at 1 recordings list)"
  fi
  answer=$(at 1 recordings list)
  whole_copy_in "$answer" || fail "round $ROUND: not one whole copy: $answer"
  json_is "$answer" '[.recordings[] | select(.state != "SEALED")] == []' "round $ROUND: what unfinished copies have left"
  json_is "$(tapectl_json recordings list)" "[.recordings[] | select(.name == \"$ORIGINAL\")] == []" "round $ROUND: the original"
  at 1 recordings verify "$(jq -r '.recordings[0].name' <<<"$answer")" >/dev/null || fail "round $ROUND: the copy does not verify"
}

nothing_is_kept_of_copies() {
  [[ -z $(ls "$XDG_STATE_HOME/tapedeck/copies" 2>/dev/null) ]] || fail "files of copies that have ended: $(ls "$XDG_STATE_HOME/tapedeck/copies")"
}
