#!/usr/bin/env bash
# Recordings that go to another LUN: a copy has every byte and note of its original, and is whole before the original is deleted.
# What has moved is found under its old name. Moves to another node are the matter of kills.sh copies.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BLOCKS=120

record() { tapectl_json record "$1" --source synth --blocks "$BLOCKS" >/dev/null && newest_recording; }
# data_of DIRECTORY RECORDING: its payload, as it lies on the disk.
data_of() { echo "$WORK/$1/${2##*/}/data"; }
# Of one node: every byte, and what people have noted.
copy_here() {
  local original answer copy
  original=$(record fast/c)
  tapectl recordings update "$original" --description "the first light" >/dev/null
  tapectl annotate "$original" --from-sample 1000 --to-sample 1024 --label burst >/dev/null
  tapectl keep "$original" >/dev/null
  original_said=$(tapectl_json recordings show "$original")
  answer=$(tapectl_json recordings copy "$original" --to deep/c) || fail "the copy: $answer"
  copy=$(jq -r .recording <<<"$answer")
  [[ ${copy##*/} == "${original##*/}" ]] || fail "the copy has another ID: $copy"
  cmp "$(data_of member-fast/c "$original")" "$(data_of member-deep/c "$copy")" || fail "the copy has other bytes"
  json_is "[$original_said,$(tapectl_json recordings show "$copy")]" \
    "[.[] | {labels, origin, group, description, annotations, kept, start_time, blocks, bytes, sample_rate}] | .[0] == .[1]" "what is noted of the copy"
  json_is "$(tapectl_json recordings copy "$original" --to deep/c)" ".recording == \"$copy\" and .first_block == $BLOCKS" "a second time"
  json_is "$(tapectl_json recordings show "${original##*/}")" ".name == \"$original\"" "whom the ID names"
  answer=$(tapectl_json recordings move "$original" --to deep/c) || fail "the move: $answer"
  json_is "$answer" ".recording == \"$copy\" and .moved" "moving what was copied"
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$copy\"" "the old name"
  is_whole "$(tapectl_json play "$original" --sink verify)" "playing by the old name"
  json_is "$(tapectl_json recordings move "$original" --to deep/c)" ".recording == \"$copy\"" "moving it again"
}

# Whoever deletes the original once more does not mean its copy.
deleted_twice() {
  local original answer copy name
  original=$(record fast/c)
  copy=$(tapectl_json recordings copy "$original" --to deep/c | jq -r .recording)
  tapectl recordings delete "$original" >/dev/null
  for name in "$original" "${original##*/}"; do
    answer=$(tapectl_json recordings delete "$name") && fail "the copy was deleted by the name $name: $answer"
    expect_error_in "$answer" NOT_FOUND RECORDING_NOT_FOUND
  done
  tapectl recordings verify "$copy" >/dev/null || fail "the copy went with its original"
  tapectl recordings delete "$copy" >/dev/null
}

# It lies on the members, and its copy is no proof that it was moved.
of_a_detached_lun() {
  local original answer
  original=$(record fast/c)
  tapectl recordings copy "$original" --to deep/c >/dev/null
  tapectl lun detach fast >/dev/null
  answer=$(tapectl_json recordings move "$original" --to deep/c) && fail "moved out of a LUN that is not here: $answer"
  expect_error_in "$answer" NOT_FOUND LUN_NOT_FOUND
  tapectl lun attach --member "$WORK/member-fast" >/dev/null
  json_is "$(tapectl_json recordings move "$original" --to deep/c)" ".moved" "moving it from the attached LUN"
}

refusals() {
  local original answer
  original=$(record fast/c)
  answer=$(tapectl_json recordings copy "$original" --to deep/other) && fail "another datatype: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  answer=$(tapectl_json recordings move "$original" --to fast/c) && fail "its own channel: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  answer=$(tapectl_json recordings copy "$original" --to deep/none) && fail "no channel: $answer"
  expect_error_in "$answer" NOT_FOUND CHANNEL_NOT_FOUND
  answer=$(tapectl_json recordings copy "$original" --to 127.0.0.1:1/deep/c) && fail "no node: $answer"
  expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
  # What is damaged is not all there: the original stays.
  printf 'damage' | dd of="$(data_of member-fast/c "$original")" bs=1 seek=$((7 * 65536 + 3)) conv=notrunc status=none
  answer=$(tapectl_json recordings move "$original" --to deep/c) && fail "moving what is damaged: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$original\"" "the damaged original"
  tapectl recordings delete "$original" >/dev/null
}

# The catalog alone has a copy whose manifest is lost: no reason to delete the original. A scrub writes the manifest again. Then a
# recording that lost manifest and row is salvaged, and its copy says why.
lost_manifests() {
  local original answer copy cause
  original=$(record fast/c)
  copy=$(tapectl_json recordings copy "$original" --to deep/c | jq -r .recording)
  rm "$WORK/member-deep/c/${copy##*/}/manifest.json"
  answer=$(tapectl_json recordings move "$original" --to deep/c) && fail "moved to a copy without a manifest: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  [[ $answer == *manifest* ]] || fail "the refusal does not name the manifest: $answer"
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$original\"" "the original of a damaged copy"
  tapectl scrub start deep --restart --rate 10GB >/dev/null
  [[ -f $WORK/member-deep/c/${copy##*/}/manifest.json ]] || fail "no scrub wrote the manifest again"
  json_is "$(tapectl_json recordings move "$original" --to deep/c)" ".recording == \"$copy\" and .moved" "moving to the mended copy"

  original=$(record fast/c)
  kill_service "$STORAGE_PID"
  rm "$WORK/member-fast/c/${original##*/}/manifest.json" "$WORK"/state/catalog.sqlite*
  start_storage
  cause=$(tapectl_json recordings show "$original" | jq -r .cause)
  [[ $cause == DATA_LOSS*manifest* ]] || fail "the salvaged recording says: $cause"
  copy=$(tapectl_json recordings copy "$original" --to deep/c | jq -r .recording)
  json_is "$(tapectl_json recordings show "$copy")" ".origin.original_cause == \"$cause\"" "the cause of the original"
  tapectl recordings delete "$original" >/dev/null
}

begin_test
export XDG_STATE_HOME=$WORK/kept
start_storage
start_worker
lun_with_channel posix fast/c cf32_le 64KiB
lun_with_channel direct deep/c cf32_le 64KiB
tapectl channel create deep/other --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
copy_here
deleted_twice
of_a_detached_lun
refusals
lost_manifests
[[ -z $(ls "$XDG_STATE_HOME/tapedeck/copies" 2>/dev/null) ]] || fail "files of copies that have ended: $(ls "$XDG_STATE_HOME/tapedeck/copies")"
