#!/usr/bin/env bash
# The policy of tiers: a channel's recordings go to another LUN of the node by themselves, with all that was noted of them, and are
# found under their old names.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BLOCKS=40

record() { tapectl_json record "$1" --source synth --blocks "$BLOCKS" >/dev/null && newest_recording; }
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
  tapectl annotate "$name" --from-sample 1000 --to-sample 1024 --label burst >/dev/null
  said=$(tapectl_json recordings show "$name")
  tapectl channel update fast/c --move-to deep --after 1s >/dev/null
  json_is "$(tapectl_json channel list fast)" '.channels[0] | .move_to == "luns/deep" and .move_after_s == 1' "the policy"
  await_moved fast/c
  moved=$(tapectl_json recordings show "$name")
  json_is "[$said,$moved]" "[.[] | {labels, origin, group, description, annotations, start_time, blocks, bytes, sample_rate}] | .[0] == .[1]" "what is noted"
  json_is "$moved" ".name == \"luns/deep/channels/c/recordings/${name##*/}\" and .original == \"$name\"" "the old name"
  is_whole "$(tapectl_json play "$name" --sink verify)" "playing by the old name"
  ! tapectl recordings move "$name" --to deeper/c 2>/dev/null || fail "what deletes takes an old name"
  ! tapectl keep "$name" 2>/dev/null || fail "keep takes an old name"
  ! tapectl recordings update "$name" --label site=north 2>/dev/null || fail "an update takes an old name"
  ! tapectl annotate "$name" --from-sample 0 --label late 2>/dev/null || fail "annotate takes an old name"
  json_is "[$moved,$(tapectl_json recordings show "$name")]" '.[0] == .[1]' "what is refused changes nothing"
  tapectl recordings move "deep/c/${name##*/}" --to deeper/c >/dev/null || fail "moving it once more"
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

begin_test
start_storage
start_worker
lun_with_channel posix fast/c cf32_le 64KiB
lun_of_kind direct deep
lun_of_kind posix deeper
tapectl channel create deeper/c --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
refusals
one_by_one
