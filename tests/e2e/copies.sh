#!/usr/bin/env bash
# Recordings that go to another LUN or storage node: a copy has every byte and note of its original, goes on where it was broken
# off by a kill of any of the three programs, and is whole before the original is deleted. What has moved is found under its old
# name.
#   copies.sh [ROUNDS]    so many moves with a kill; default 6, with TAPEDECK_LONG 200
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=${1:-6}
[[ -z ${TAPEDECK_LONG:-} ]] || ROUNDS=200
BLOCKS=120

# start_node NAME PORT: a second storage node is started as the first is.
start_node() {
  start_service "$WORK/$1.log" "$2" "$TAPEDECK_BIN/tapedeck-storage" --listen "127.0.0.1:$2" --state "$WORK/$1" "${STORAGE_RAILS[@]}"
}
start_second() {
  start_node second "$SECOND_PORT"
  SECOND_PID=$SERVICE_PID
}

second() { TAPEDECK_STORAGE=$SECOND tapectl_json "$@"; }
record() { tapectl_json record "$1" --source synth --blocks "$BLOCKS" >/dev/null && newest_recording; }
# data_of DIRECTORY RECORDING: its payload, as it lies on the disk.
data_of() { echo "$WORK/$1/${2##*/}/data"; }
# whole_in ANSWER: whether a list of recordings has a sealed copy of ORIGINAL.
# shellcheck disable=SC2016
whole_in() { jq -e --arg original "$ORIGINAL" '[.recordings[] | select(.original == $original and .state == "SEALED" and .blocks == '"$BLOCKS"')] | length == 1' <<<"$1" >/dev/null; }

# Of one node: every byte, and what people have noted.
copy_here() {
  local original answer copy
  original=$(record fast/c)
  tapectl recordings update "$original" --description "the first light" >/dev/null
  tapectl annotate "$original" --sample 1000 --samples 24 --label burst >/dev/null
  tapectl keep "$original" >/dev/null
  original_said=$(tapectl_json recordings show "$original")
  answer=$(tapectl_json recordings copy "$original" deep/c) || fail "the copy: $answer"
  copy=$(jq -r .recording <<<"$answer")
  [[ ${copy##*/} == "${original##*/}" ]] || fail "the copy has another ID: $copy"
  cmp "$(data_of member-fast/c "$original")" "$(data_of member-deep/c "$copy")" || fail "the copy has other bytes"
  json_is "[$original_said,$(tapectl_json recordings show "$copy")]" \
    "[.[] | {labels, origin, group, description, annotations, kept, start_time, blocks, bytes, sample_rate}] | .[0] == .[1]" "what is noted of the copy"
  json_is "$(tapectl_json recordings copy "$original" deep/c)" ".recording == \"$copy\" and .first_block == $BLOCKS" "a second time"
  json_is "$(tapectl_json recordings show "${original##*/}")" ".name == \"$original\"" "whom the ID names"
  answer=$(tapectl_json recordings move "$original" deep/c) || fail "the move: $answer"
  json_is "$answer" ".recording == \"$copy\" and .moved" "moving what was copied"
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$copy\"" "the old name"
  is_whole "$(tapectl_json play "$original" --sink verify)" "playing by the old name"
  json_is "$(tapectl_json recordings move "$original" deep/c)" ".recording == \"$copy\"" "moving it again"
}

# Whoever deletes the original once more does not mean its copy.
deleted_twice() {
  local original answer copy name
  original=$(record fast/c)
  copy=$(tapectl_json recordings copy "$original" deep/c | jq -r .recording)
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
  tapectl recordings copy "$original" deep/c >/dev/null
  tapectl lun detach fast >/dev/null
  answer=$(tapectl_json recordings move "$original" deep/c) && fail "moved out of a LUN that is not here: $answer"
  expect_error_in "$answer" NOT_FOUND LUN_NOT_FOUND
  tapectl lun attach --member "$WORK/member-fast" >/dev/null
  json_is "$(tapectl_json recordings move "$original" deep/c)" ".moved" "moving it from the attached LUN"
}

refusals() {
  local original answer
  original=$(record fast/c)
  answer=$(tapectl_json recordings copy "$original" deep/other) && fail "another datatype: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  answer=$(tapectl_json recordings move "$original" fast/c) && fail "its own channel: $answer"
  expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
  answer=$(tapectl_json recordings copy "$original" deep/none) && fail "no channel: $answer"
  expect_error_in "$answer" NOT_FOUND CHANNEL_NOT_FOUND
  answer=$(tapectl_json recordings copy "$original" deep/c --to-storage 127.0.0.1:1) && fail "no node: $answer"
  expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
  # What is damaged is not all there: the original stays.
  printf 'damage' | dd of="$(data_of member-fast/c "$original")" bs=1 seek=$((7 * 65536 + 3)) conv=notrunc status=none
  answer=$(tapectl_json recordings move "$original" deep/c) && fail "moving what is damaged: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$original\"" "the damaged original"
  tapectl recordings delete "$original" >/dev/null
}

# The catalog alone has a copy whose manifest is lost: no reason to delete the original. A scrub writes the manifest again. Then a
# recording that lost manifest and row is salvaged, and its copy says why.
lost_manifests() {
  local original answer copy cause
  original=$(record fast/c)
  copy=$(tapectl_json recordings copy "$original" deep/c | jq -r .recording)
  rm "$WORK/member-deep/c/${copy##*/}/manifest.json"
  answer=$(tapectl_json recordings move "$original" deep/c) && fail "moved to a copy without a manifest: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  [[ $answer == *manifest* ]] || fail "the refusal does not name the manifest: $answer"
  json_is "$(tapectl_json recordings show "$original")" ".name == \"$original\"" "the original of a damaged copy"
  tapectl scrub start deep --restart --rate 10GB >/dev/null
  [[ -f $WORK/member-deep/c/${copy##*/}/manifest.json ]] || fail "no scrub wrote the manifest again"
  json_is "$(tapectl_json recordings move "$original" deep/c)" ".recording == \"$copy\" and .moved" "moving to the mended copy"

  original=$(record fast/c)
  kill_service "$STORAGE_PID"
  rm "$WORK/member-fast/c/${original##*/}/manifest.json" "$WORK"/state/catalog.sqlite*
  start_storage
  cause=$(tapectl_json recordings show "$original" | jq -r .cause)
  [[ $cause == DATA_LOSS*manifest* ]] || fail "the salvaged recording says: $cause"
  copy=$(tapectl_json recordings copy "$original" deep/c | jq -r .recording)
  json_is "$(tapectl_json recordings show "$copy")" ".origin.original_cause == \"$cause\"" "the cause of the original"
  tapectl recordings delete "$original" >/dev/null
}

# A move to the other node during which one of tapectl, source and target is killed, at any moment; those that serve come back. Then
# it is asked for again until it is done. At no time is there less than one whole copy.
killed_move() {
  local pid status=0 answer
  ORIGINAL=$(record fast/c)
  second recordings list >/dev/null
  # The program itself: a kill of a shell around it would leave it running.
  "$TAPEDECK_BIN/tapectl" --output json recordings move "$ORIGINAL" deep/c --to-storage "$SECOND" --pace 10MB >"$WORK/move.json" 2>"$WORK/move.log" &
  pid=$!
  sleep "0.$((RANDOM % 80 + 10))"
  case $(($1 % 3)) in
    0) kill -KILL "$pid" 2>/dev/null || true ;; # it may be done
    1) kill_service "$STORAGE_PID" && start_storage ;;
    2) kill_service "$SECOND_PID" && start_second ;;
  esac
  wait "$pid" || status=$?
  if ((status != 0)); then
    if ! tapectl_json recordings show "$ORIGINAL" | jq -e '.blocks == '"$BLOCKS" >/dev/null; then
      whole_in "$(second recordings list)" || fail "round $1: neither the original nor a copy is whole"
    fi
    answer=$(tapectl_json recordings move "$ORIGINAL" deep/c --to-storage "$SECOND") || fail "round $1: moving again: $answer $(cat "$WORK/move.json") $(second recordings list)"
  fi
  answer=$(second recordings list)
  whole_in "$answer" || fail "round $1: not one whole copy: $answer"
  json_is "$answer" '[.recordings[] | select(.state != "SEALED")] == []' "round $1: what unfinished copies have left"
  json_is "$(tapectl_json recordings list)" "[.recordings[] | select(.name == \"$ORIGINAL\")] == []" "round $1: the original"
  second recordings verify "$(jq -r '.recordings[0].name' <<<"$answer")" >/dev/null || fail "round $1: the copy does not verify"
}

begin_test
export XDG_STATE_HOME=$WORK/kept
start_storage
start_worker
SECOND_PORT=$(free_port)
SECOND=127.0.0.1:$SECOND_PORT
start_second
lun_with_channel posix fast/c cf32_le 64KiB
lun_with_channel direct deep/c cf32_le 64KiB
tapectl channel create deep/other --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
mkdir "$WORK/member-second"
TAPEDECK_STORAGE=$SECOND tapectl lun create deep --store posix --member "$WORK/member-second" >/dev/null
TAPEDECK_STORAGE=$SECOND tapectl channel create deep/c --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null

copy_here
deleted_twice
of_a_detached_lun
refusals
lost_manifests
for ((round = 0; round < ROUNDS; ++round)); do killed_move "$round"; done
[[ -z $(ls "$XDG_STATE_HOME/tapedeck/copies" 2>/dev/null) ]] || fail "files of copies that have ended: $(ls "$XDG_STATE_HOME/tapedeck/copies")"
echo "a copy with all its notes, refusals, and $ROUNDS moves with a kill: each ends with one whole recording"
