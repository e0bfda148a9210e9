#!/usr/bin/env bash
# The policy of tiers: a channel's recordings go to another LUN of the node by themselves, with all that was noted of them, and are
# found under their old names. The storage node is killed at any moment while it moves: each recording is whole once at least, and in
# the end exactly once.
#   tiers.sh [KILLS]    default 6, with TAPEDECK_LONG 200
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KILLS=${1:-6}
[[ -z ${TAPEDECK_LONG:-} ]] || KILLS=200
BLOCKS=40
BATCH=20
IDS=()
CUT_OFF=0

record() { tapectl_json record "$1" --source synth --blocks "$BLOCKS" >/dev/null && newest_recording; }
listed() { tapectl_json recordings list; }
is_empty() { [[ $(tapectl_json recordings list "$1" | jq '.recordings | length') == 0 ]]; }
await_moved() { # CHANNEL
  local until=$((SECONDS + $(slow 60)))
  until is_empty "$1"; do
    ((SECONDS < until)) || fail "not moved: $(tapectl_json recordings list "$1")"
    sleep 0.1
  done
}

one_by_one() {
  local name moved
  name=$(record fast/c)
  tapectl recordings update "$name" --description "the first light" >/dev/null
  tapectl annotate "$name" --sample 1000 --samples 24 --label burst >/dev/null
  said=$(tapectl_json recordings show "$name")
  tapectl channel update fast/c --move-to deep --after 1s >/dev/null
  json_is "$(tapectl_json channel list fast)" '.channels[0] | .move_to == "luns/deep" and .move_after_s == 1' "the policy"
  await_moved fast/c
  moved=$(tapectl_json recordings show "$name")
  json_is "[$said,$moved]" "[.[] | {labels, origin, group, description, annotations, start_time, blocks, bytes, sample_rate}] | .[0] == .[1]" "what is noted"
  json_is "$moved" ".name == \"luns/deep/channels/c/recordings/${name##*/}\" and .original == \"$name\"" "the old name"
  is_whole "$(tapectl_json play "$name" --sink verify)" "playing by the old name"
  ! tapectl recordings move "$name" deeper/c 2>/dev/null || fail "what deletes takes an old name"
  ! tapectl keep "$name" 2>/dev/null || fail "keep takes an old name"
  ! tapectl recordings update "$name" --label site=north 2>/dev/null || fail "an update takes an old name"
  ! tapectl annotate "$name" --sample 0 --label late 2>/dev/null || fail "annotate takes an old name"
  json_is "[$moved,$(tapectl_json recordings show "$name")]" '.[0] == .[1]' "what is refused changes nothing"
  tapectl recordings move "deep/c/${name##*/}" deeper/c >/dev/null || fail "moving it once more"
  json_is "$(tapectl_json recordings show "$name")" ".name == \"luns/deeper/channels/c/recordings/${name##*/}\"" "the first name"
  is_whole "$(tapectl_json play "$name" --sink verify)" "playing by the first name"
  tapectl channel update fast/c --move-to "" >/dev/null
  json_is "$(tapectl_json channel list fast)" '.channels[0].move_to == ""' "no policy"
  tapectl recordings delete "deeper/c/${name##*/}" >/dev/null
}

refusals() {
  local answer
  answer=$(tapectl_json channel update fast/c --move-to 127.0.0.1:7401/deep --after 1h) && fail "another node: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  jq -e '.error.message | contains("tapectl recordings move")' <<<"$answer" >/dev/null || fail "what is told of another node: $answer"
  answer=$(tapectl_json channel update fast/c --move-to fast --after 1h) && fail "its own LUN: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  answer=$(tapectl_json channel update fast/c --move-to none --after 1h) && fail "no LUN: $answer"
  expect_error_in "$answer" NOT_FOUND LUN_NOT_FOUND
  answer=$(tapectl_json channel update fast/c --move-to deep --after 1ms) && fail "at once: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
}

# whole ID ANSWER: how often the list has it whole.
# shellcheck disable=SC2016
whole() { jq --arg id "/recordings/$1" '[.recordings[] | select((.name | endswith($id)) and .state == "SEALED" and .blocks == '"$BLOCKS"')] | length' <<<"$2"; }

# record_batch N: while there is no policy, so that all of them are late when there is one.
record_batch() {
  local number name
  tapectl channel update fast/c --move-to "" >/dev/null
  for ((number = 0; number < $1; ++number)); do
    name=$(record fast/c) || fail "no recording"
    IDS+=("${name##*/}")
  done
  sleep 1
  tapectl channel update fast/c --move-to deep --after 1s --move-rate 10MB >/dev/null
}

# Half a second after its start the node begins to move what is late, two recordings in a second.
kill_while_it_moves() {
  local answer id
  sleep "$(awk -v random="$RANDOM" 'BEGIN { print 0.2 + random / 32768 * 0.9 }')"
  kill_service "$STORAGE_PID" && start_storage
  answer=$(listed)
  ! jq -e '[.recordings[] | select(.origin.move_draft != "")] | length > 0' <<<"$answer" >/dev/null || CUT_OFF=$((CUT_OFF + 1))
  for id in "${IDS[@]}"; do
    (($(whole "$id" "$answer") >= 1)) || fail "round $1: $id is nowhere whole: $answer"
  done
}

# All that was recorded is in the other LUN, once and whole; then it is deleted.
expect_each_once() {
  local answer id
  tapectl channel update fast/c --move-rate 1GB >/dev/null
  await_moved fast/c
  answer=$(listed)
  json_is "$answer" '[.recordings[] | select(.state != "SEALED" or .origin.move_draft != "")] == []' "what broken-off moves have left"
  json_is "$answer" ".recordings | length == ${#IDS[@]}" "one of each"
  for id in "${IDS[@]}"; do
    tapectl recordings verify "luns/fast/channels/c/recordings/$id" >/dev/null || fail "$id does not verify"
    tapectl recordings delete "luns/deep/channels/c/recordings/$id" >/dev/null
  done
  IDS=()
}

begin_test
start_storage
start_worker
lun_with_channel posix fast/c cf32_le 64KiB
lun_of_kind direct deep
lun_of_kind posix deeper
tapectl channel create deeper/c --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
refusals
one_by_one
for ((round = 1; round <= KILLS; ++round)); do
  ((round % BATCH != 1)) || record_batch "$(((KILLS < BATCH ? KILLS : BATCH) / 2 + 2))"
  kill_while_it_moves "$round"
  ((round % BATCH != 0)) || expect_each_once
done
((${#IDS[@]} == 0)) || expect_each_once
((KILLS < 2 * BATCH || CUT_OFF > KILLS / 4)) || fail "$CUT_OFF of $KILLS kills have cut a copy off"
echo "moved by policy, found by each name; $KILLS kills of the node, $CUT_OFF of them with a copy cut off: each recording is there once and whole"
