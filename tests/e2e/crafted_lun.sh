#!/usr/bin/env bash
# A disk from somebody else: manifests nested two hundred thousand deep or larger than any manifest, and a stripe that has lost
# the payload of a recording on one member. The node says what is wrong, goes on, and plays what is there.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# record_into LUN: the directory of its newest recording on the first member.
record_into() {
  RECORDING=$(tapectl_json record "$1/c0" --source synth --blocks 16 | jq -r .recording)
  DIRECTORY=$WORK/member-$1/c0/${RECORDING##*/}
  [[ -d $DIRECTORY ]] || fail "no directory $DIRECTORY"
}

# restart_from_files: with nothing but the members to go by.
restart_from_files() {
  stop_service "$STORAGE_PID"
  "$TAPEDECK_BIN/tapedeck-storage" --state "$WORK/state" --rebuild-catalog >"$WORK/rebuild.log" 2>&1 ||
    fail "the catalog is not rebuilt: $(tail -n 3 "$WORK/rebuild.log")"
  start_storage
}

nested() {
  printf '{"x":%.0s' {1..200000}
  printf 1
  printf '}%.0s' {1..200000}
}

larger_than_any() { head -c $((300 << 20)) /dev/zero | tr '\0' ' '; }

# survives WRITE: a manifest that WRITE has made.
survives() {
  record_into l0
  "$1" >"$DIRECTORY/manifest.json"
  restart_from_files
  is_whole "$(tapectl_json play "$HONEST" --sink verify)" "the recording beside a manifest that is $1"
}

plays_what_is_left() {
  local played
  tapectl_json lun create stripe --store posix --member "$WORK/member-stripe" --member "$WORK/member-other" >/dev/null
  tapectl channel create stripe/c0 --block-bytes 64KiB >/dev/null
  record_into stripe
  stop_service "$STORAGE_PID"
  rm "$WORK/member-other/c0/${RECORDING##*/}/data"
  start_storage
  played=$(tapectl_json play "$RECORDING" --sink verify) || true
  json_is "$played" ".blocks == 16 and .lost_blocks == 8" "what is left of a stripe"
}

begin_test
mkdir "$WORK/member-stripe" "$WORK/member-other"
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 64KiB
record_into l0
HONEST=$RECORDING
survives nested
survives larger_than_any
plays_what_is_left
