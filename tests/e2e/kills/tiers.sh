# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: a node is killed at any moment while a channel's policy moves recordings to another LUN: each is whole once at
# least, and in the end exactly once.
TIER_BLOCKS=40
BATCH=20
IDS=()
CUT_OFF=0

is_empty() { [[ $(tapectl_json recordings list "$1" | jq '.recordings | length') == 0 ]]; }

tiers_site() {
  start_nodes 1
  start_worker
  lun_with_channel posix fast/c cf32_le 64KiB
  lun_of_kind direct deep
}

# whole_in LIST ID: how often the list has it whole.
# shellcheck disable=SC2016
whole_in() {
  jq --arg id "/recordings/$2" --argjson blocks "$TIER_BLOCKS" \
    '[.recordings[] | select((.name | endswith($id)) and .state == "SEALED" and .blocks == $blocks)] | length' <<<"$1"
}

# records_late_ones: at the beginning of a batch of rounds, while there is no policy, so that all of them are late when there is one.
records_late_ones() {
  local number
  ((ROUND % BATCH == 0)) || return 0
  tapectl channel update fast/c --move-to "" >/dev/null
  for ((number = 0; number < (KILLS < BATCH ? KILLS : BATCH) / 2 + 2; ++number)); do
    tapectl_json record fast/c --source synth --blocks "$TIER_BLOCKS" >/dev/null || fail "no recording"
    IDS+=("$(newest_recording | sed 's:.*/::')")
  done
  sleep 1
  tapectl channel update fast/c --move-to deep --after 1s --move-rate 10MB >/dev/null
}

# while_it_moves: half a second after its start the node begins to move what is late, two recordings in a second.
while_it_moves() { sleep "$(awk -v random="$RANDOM" 'BEGIN { print 0.2 + random / 32768 * 0.9 }')"; }

each_is_whole() {
  local answer id
  answer=$(tapectl_json recordings list)
  ! jq -e '[.recordings[] | select(.origin.move_draft != "")] | length > 0' <<<"$answer" >/dev/null || CUT_OFF=$((CUT_OFF + 1))
  for id in "${IDS[@]}"; do
    (($(whole_in "$answer" "$id") >= 1)) || fail "round $ROUND: $id is nowhere whole: $answer"
  done
  (((ROUND + 1) % BATCH != 0)) || each_is_there_once
}

# each_is_there_once: all that was recorded is in the other LUN, once and whole; then it is deleted.
each_is_there_once() {
  local answer id
  ((${#IDS[@]} > 0)) || return 0
  tapectl channel update fast/c --move-rate 1GB >/dev/null
  wait_for 60 is_empty fast/c || fail "not moved: $(tapectl_json recordings list fast/c)"
  answer=$(tapectl_json recordings list)
  json_is "$answer" '[.recordings[] | select(.state != "SEALED" or .origin.move_draft != "")] == []' "what broken-off moves have left"
  json_is "$answer" ".recordings | length == ${#IDS[@]}" "one of each"
  for id in "${IDS[@]}"; do
    tapectl recordings verify "luns/fast/channels/c/recordings/$id" >/dev/null || fail "$id does not verify"
    tapectl recordings delete "luns/deep/channels/c/recordings/$id" >/dev/null
  done
  IDS=()
}

some_were_cut_off() {
  ((KILLS < 2 * BATCH || CUT_OFF > KILLS / 4)) || fail "$CUT_OFF of $KILLS kills have cut a copy off"
  echo "$CUT_OFF kills have cut a copy off"
}
