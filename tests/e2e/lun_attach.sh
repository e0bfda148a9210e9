#!/usr/bin/env bash
# LUNs outlive their storage node: the state directory is deleted and the members are elsewhere, and another node finds all
# that they hold. A missing member is named, a copy of a LUN that is open is refused, and what is detached can be taken along.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

STORES=(posix direct device)

# make STORE: a LUN of three members with recordings of one channel, one of which is kept and has a marker.
make() {
  local store=$1 m member=() recording
  for m in 0 1 2; do
    if [[ $store == device ]]; then
      truncate -s 1G "$WORK/$store-$m"
    else
      mkdir "$WORK/$store-$m"
    fi
    member+=(--member "$WORK/$store-$m")
  done
  tapectl lun create "$store" --store "$store" "${member[@]}" --capacity 512MiB --max-age 72h >/dev/null
  tapectl channel create "$store/c0" --block-bytes 256KiB --sample-rate 1e6 --datatype cf32_le >/dev/null
  tapectl channel create "$store/ring-like" --block-bytes 64KiB --segment 4MiB --sample-rate 1e6 >/dev/null
  for _ in 1 2; do tapectl record "$store/c0" --source synth --blocks 20 >/dev/null; done
  tapectl record "$store/ring-like" --source synth --blocks 100 >/dev/null
  recording=$(tapectl_json recordings list --segments "$store/c0" | jq -r '.recordings[0].name')
  tapectl keep "$recording" >/dev/null
  tapectl annotate "$recording" --from-sample 10 --to-sample 15 --label burst >/dev/null
}

recordings_of() { tapectl_json recordings list --segments | jq --sort-keys --arg lun "luns/$1/" '.recordings[] | select(.name | startswith($lun))'; }

# Everything that the lists of a LUN say, but where it lies.
lists() {
  tapectl_json lun list | jq --sort-keys --arg name "luns/$1" '.luns[] | select(.name == $name) | del(.members)'
  tapectl_json channel list "$1" | jq --sort-keys .
  recordings_of "$1"
}

# all_verify LUN
all_verify() {
  local recording
  for recording in $(recordings_of "$1" | jq -r .name); do
    json_is "$(tapectl_json recordings verify "$recording")" '.damaged == []' "$recording"
  done
}

# attached STORE M0 M1 M2 [OPTION...]: tapectl lun attach in that order.
attach() { tapectl_json lun attach --member "$2" --member "$3" --member "$4" "${@:5}"; }

field_of() { tapectl_json lun list | jq -r --arg name "luns/$1" ".luns[] | select(.name == \$name) | .$2"; }

begin_test
start_storage
start_worker
for store in "${STORES[@]}"; do
  make "$store"
  lists "$store" >"$WORK/$store.before"
done

# The node dies, its state is lost, the members turn up elsewhere.
kill_service "$STORAGE_PID"
rm -r "$WORK/state"
mkdir "$WORK/mnt"
for store in "${STORES[@]}"; do
  for m in 0 1 2; do mv "$WORK/$store-$m" "$WORK/mnt/$store-new-$((2 - m))"; done
done
start_storage
json_is "$(tapectl_json lun list)" '.luns == []' "a node without state"
for store in "${STORES[@]}"; do
  new=$WORK/mnt/$store-new
  answer=$(tapectl_json lun create taken --store "$store" --member "$new-0") && fail "made a LUN of a member: $answer"
  expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
  json_is "$answer" '.error.message | contains("tapectl lun attach")' "what helps"

  # Member 0 comes later.
  mv "$new-2" "$WORK/away"
  tapectl_json lun attach --member "$new-0" --member "$new-1" >/dev/null
  [[ $(field_of "$store" state) == OFFLINE && $(field_of "$store" cause) == *"$WORK/$store-0"* ]] ||
    fail "without member 0: $(tapectl_json lun list)"
  mv "$WORK/away" "$new-2"
  json_is "$(attach "$store" "$new-1" "$new-2" "$new-0")" '.state == "READY"' "with all members"
  lists "$store" | diff "$WORK/$store.before" - || fail "$store has changed"
  all_verify "$store"
  is_whole "$(tapectl_json record "$store/c0" --source synth --blocks 5)" "recording into what was attached"
done

# A copy of a LUN that is open.
cp -a "$WORK/mnt/posix-new-0" "$WORK/mnt/posix-new-1" "$WORK/mnt/posix-new-2" "$WORK/"
copy=("$WORK/posix-new-0" "$WORK/posix-new-1" "$WORK/posix-new-2")
answer=$(attach posix "${copy[@]}" --name copy) && fail "attached a copy: $answer"
expect_error_in "$answer" ALREADY_EXISTS LUN_EXISTS
json_is "$answer" ".error.message | contains(\"$WORK/mnt/posix-new-0\") and contains(\"$WORK/posix-new-\")" "both places"
json_is "$(attach posix "${copy[@]}" --as-new --name copy)" '.state == "READY" and .recordings > 0' "the copy as a LUN of its own"
[[ $(field_of copy uid) != "$(field_of posix uid)" ]] || fail "two LUNs with one UUID"
all_verify copy
all_verify posix
is_whole "$(tapectl_json record copy/c0 --source synth --blocks 5)" "recording into the copy"

# Detached, and taken by a node that is made for it.
for store in "${STORES[@]}"; do
  lists "$store" >"$WORK/$store.before"
  tapectl lun detach "$store" >/dev/null
done
json_is "$(tapectl_json lun list)" '[.luns[].name] == ["luns/copy"]' "after detaching"
stop_service "$STORAGE_PID"
rm -r "$WORK/state"
members=()
for file in "$WORK"/mnt/*-new-*; do members+=(--member "$file"); done
"$TAPEDECK_BIN/tapedeck-storage" --state "$WORK/state" --rebuild-catalog "${members[@]}" 2>"$WORK/rebuild.log" ||
  fail "rebuilding: $(cat "$WORK/rebuild.log")"
start_storage
for store in "${STORES[@]}"; do
  lists "$store" | diff "$WORK/$store.before" - || fail "$store has changed on its way"
  all_verify "$store"
done
echo "the LUNs of ${STORES[*]} were attached, copied, detached and rebuilt: nothing lost"
