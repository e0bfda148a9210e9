#!/usr/bin/env bash
# The state directory fills up while a node records. The recording ends as SEALED and stays so. No policy deletes
# anything on a wrong account. Calls say what has happened. The node names the state directory as what is full, and no
# member. Once there is room the catalog is right again by itself, and so it is if the node dies before.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/doctor_lib.sh"
if [[ ${TAPEDECK_PRIVATE_MOUNTS:-} != yes ]]; then
  unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
  TAPEDECK_PRIVATE_MOUNTS=yes exec unshare -m "$0" "$@"
fi

fill_state() { dd if=/dev/zero of="$WORK/state/fill" bs=4k 2>/dev/null || true; }
empty_state() { rm "$WORK/state/fill"; }
manifests() { md5sum "$WORK"/member-fill/c/*/manifest.json; }
used() { tapectl_json lun list | jq '.luns[0].used_bytes'; }
is_at_rest() { is_metric 0 storage tapedeck_state_changes_waiting; }
all_of_fill() { tapectl_json recordings list fill/c; }
lists_as() { [[ $(all_of_fill | jq -c '[.recordings[] | .name + " " + .state] | sort') == "$1" ]]; }
is_recording() { all_of_fill | jq -e '[.recordings[] | select(.state == "RECORDING")] | length == 1'; }
are_sealed() { json_is "$(all_of_fill)" ".recordings | length == $1 and all(.state == \"SEALED\")" "$1 recordings"; }
make_channel() { tapectl channel create "$1" --block-bytes 64KiB --datatype cf32_le --sample-rate 1e6 >/dev/null; }

# one whole recording of 125 blocks of 64 KiB: about 8 MiB, of 64.
record() { tapectl_json record fill/c --source synth --blocks "$@"; }

begin_test
mkdir "$WORK/state"
mount -t tmpfs -o size=2m none "$WORK/state" 2>/dev/null || skip "no tmpfs may be mounted here"
with_admin_ports
mkdir "$WORK/member-fill"
tapectl lun create fill --store posix --member "$WORK/member-fill" --capacity 64MiB --max-fill 80 >/dev/null
make_channel fill/c
for _ in 1 2 3 4; do record 125 >/dev/null; done

# It begins at once and makes its first sample in some seconds, in which the state directory fills up.
record 125 --at "$(date -u -d '+3 seconds' +%Y-%m-%dT%H:%M:%SZ)" >"$WORK/fifth.json" 2>&1 &
fifth=$!
wait_for 10 is_recording || fail "the fifth does not begin"
fill_state
checked=$("$TAPEDECK_BIN/tapedeck-storage" --check-config --state "$WORK/state" --rail r0=tcp:127.0.0.1 2>&1) &&
  fail "the check of a full state directory: $checked"
[[ $checked == *"free space on the file system of the state directory"*"[STATE_UNUSABLE]"* ]] || fail "it says $checked"
wait "$fifth" || fail "a recording ended for a full state directory: $(cat "$WORK/fifth.json")"
before=$(manifests)
held=$(used)
for _ in 1 2 3 4 5; do tapectl recordings list >/dev/null; tapectl recordings show fill/c/latest >/dev/null; done
[[ $(manifests) == "$before" ]] || fail "somebody who looked has rewritten a manifest"
(($(used) == held)) || fail "who looked made $held bytes $(used)"
are_sealed 5
sleep 2 # two rounds of policies
[[ $(manifests) == "$before" ]] || fail "a policy has deleted something: $(manifests)"
is_whole "$(tapectl_json play fill/c/latest --sink verify | tail -n 1)" "what was recorded then"

# What happens is said to have happened.
record 10 >/dev/null || fail "nothing more is recorded"
make_channel fill/d || fail "channel create"
json_is "$(tapectl_json channel list fill)" '[.channels[].name] | contains(["luns/fill/channels/d"])' "the channel"
latest=$(newest_recording)
tapectl recordings delete "$latest" || fail "recordings delete"
! tapectl recordings show "$latest" 2>/dev/null || fail "$latest is deleted, and there"
(($(used) == held)) || fail "a deleted recording takes room: $(used) bytes, not $held"
# A change that needs the state directory itself is refused, with the one thing that helps, and has not happened.
answer=$(tapectl_json lun update fill --capacity 128MiB) && fail "lun update: $answer"
expect_error_in "$answer" RESOURCE_EXHAUSTED STATE_UNUSABLE
json_is "$answer" '.error.message | contains("free space on the file system of the state directory")' "the remedy"
json_is "$answer" '.error.message | contains("member") | not' "the remedy"
json_is "$(tapectl_json lun list)" '.luns[0].capacity_bytes == 67108864' "the LUN"
grep -q '"capacity_bytes": 67108864' "$WORK/member-fill/.tapedeck/lun.json" || fail "the member says another capacity"

# The node says how it is, once.
expect 1 storage tapedeck_state_failing
[[ $(ask storage /readyz) == "ok, but "*"state directory"* ]] || fail "/readyz: $(ask storage /readyz)"
finds STATE_UNUSABLE error storage
(($(grep -c "the state directory fails" "$WORK/storage.log") == 1)) || fail "the log repeats itself"

# Killed, the next start has it from the files.
kill_service "$STORAGE_PID"
empty_state
start_storage
states=$(jq -r '"luns/fill/channels/c/recordings/" + .id + " " + .state' "$WORK"/member-fill/c/*/manifest.json |
  jq -Rnc '[inputs] | sort')
wait_for 10 lists_as "$states" || fail "the files say $states, the node: $(all_of_fill)"
(($(used) == held)) || fail "after the start $(used) bytes are used, not $held"

# With room again, the rows are written without a start.
fill_state
record 10 >/dev/null
wait_for 5 is_metric 1 storage tapedeck_state_failing || fail "a full state directory is not noticed"
empty_state
wait_for 10 is_at_rest || fail "changes still wait"
expect 0 storage tapedeck_state_failing
[[ $(ask storage /readyz) == ok ]] || fail "/readyz: $(ask storage /readyz)"
are_sealed 6

# Another directory in its place gets nothing, and is told.
mount -t tmpfs none "$WORK/state"
wait_for 5 is_metric 1 storage tapedeck_state_failing || fail "another state directory is not noticed"
[[ $(ask storage /readyz) == "ok, but "*"removed or replaced"* ]] || fail "/readyz: $(ask storage /readyz)"
record 10 >/dev/null || fail "nothing is recorded without the state directory"
are_sealed 7
[[ -z $(ls "$WORK/state") ]] || fail "the node wrote into another directory: $(ls "$WORK/state")"
umount "$WORK/state"
wait_for 5 is_at_rest || fail "changes still wait"
wait_for 5 is_metric 0 storage tapedeck_state_failing || fail "its own state directory is back, and the node does not see it"
echo "with a full state directory 2 recordings were made, none was deleted, none rewritten"
stop_service "$STORAGE_PID"
umount "$WORK/state"
