#!/usr/bin/env bash
# A LUN's member vanishes while it is recorded into: the recording ends at once and says which, no more of it is called
# durable, its LUN is OFFLINE, and a recording on another LUN goes on. So where the member is removed, where something is
# mounted over it (then it comes back with all it had), and where its file system fails, as far as this user may mount.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2317
end_mounts() {
  local status=$? pid
  for pid in "${SERVICE_PIDS[@]}"; do stop_service "$pid"; done
  for pid in $(jobs -rp); do kill "$pid" 2>/dev/null || true; done
  ! mountpoint -q "$WORK/member-over" || umount -l "$WORK/member-over"
  ! mountpoint -q "$WORK/disk" || umount -l "$WORK/disk"
  (exit "$status") && true
  end_test
}

state_of() { tapectl_json lun list | jq -r --arg name "luns/$1" '.luns[] | select(.name == $name) | .state'; }
is_in_state() { [[ $(state_of "$1") == "$2" ]]; }
job_of() { tapectl_json jobs list | jq -c --arg lun "/$1/" '[.jobs[] | select(.recording | contains($lun))][0] // {blocks: 0}'; }
has_blocks() { (($(job_of "$1" | jq .blocks) > 20)); }
is_over() { ! kill -0 "$1"; }

# vanishes LUN PATH COMMAND...: the command is run while the LUN is recorded into. Sets RECORDING and ACKNOWLEDGED.
vanishes() {
  local lun=$1 path=$2 pid began took before
  tapectl_json record "$lun/c0" --source synth --slots 8 --duration 600s >"$WORK/$lun.json" 2>&1 &
  pid=$!
  wait_for 15 has_blocks "$lun" || fail "$lun: the job did not get going: $(cat "$WORK/$lun.json")"
  "${@:3}"
  began=$(milliseconds)
  wait_for 10 is_over "$pid" || fail "$lun: still recorded into: $(job_of "$lun")"
  took=$(($(milliseconds) - began))
  ((took <= $(slow 2000))) || fail "$lun: the recording ended after $took ms"
  expect_error_in "$(cat "$WORK/$lun.json")" INTERNAL STORE_IO
  grep -q "$path" "$WORK/$lun.json" || fail "$lun: the error names no member: $(cat "$WORK/$lun.json")"
  wait_for 2 is_in_state "$lun" OFFLINE || fail "$lun: $(tapectl_json lun list)"
  json_is "$(tapectl_json lun list)" "[.luns[] | select((.cause // \"\") | contains(\"$path\"))] | length == 1" "the cause"
  before=$(job_of good | jq .blocks)
  RECORDING=$(job_of "$lun" | jq -r .recording)
  ACKNOWLEDGED=$(job_of "$lun" | jq .blocks)
  wait_for 5 eval "((\$(job_of good | jq .blocks) > $before))" || fail "$lun: the other LUN's recording stands still"
  last_json_of "$(<"$WORK/$lun.json")"
  echo "$lun: over after $took ms: $(jq -r .error.message <<<"$LAST_JSON" | head -c 150)"
}

make_lun() {
  tapectl lun create "$1" --store posix --member "$2" "${@:3}" >/dev/null
  tapectl channel create "$1/c0" --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
}

mount_over() { mount -t tmpfs none "$WORK/member-over"; }

# Nothing is written any more, and what the kernel remembers is still read: as of a disk that has gone.
fail_disk() { # EXT4_IOC_SHUTDOWN, without flushing the log
  /usr/bin/python3 -c 'import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))' "$WORK/disk"
}

# comes_back: what was recorded before, and what was acknowledged, once nothing is mounted over it any more.
comes_back() {
  wait_for 3 umount "$WORK/member-over" || fail "what lies over the member is still in use"
  wait_for 10 is_in_state over READY || fail "its member is back: $(tapectl_json lun list)"
  is_whole "$(tapectl_json play "$1" --sink verify)" "what had been recorded before"
  json_is "$(tapectl_json recordings show "$RECORDING")" ".state == \"SALVAGED\" and .blocks >= $ACKNOWLEDGED" "the recording"
  is_salvaged "$RECORDING" "$ACKNOWLEDGED" "the recording that had its member taken away"
}

begin_test
trap end_mounts EXIT
mkdir "$WORK"/member-{good,gone,over} "$WORK/disk"
start_storage
start_worker
make_lun good "$WORK/member-good" --capacity 4GiB --full-policy ring
make_lun gone "$WORK/member-gone"
make_lun over "$WORK/member-over"
start_job record good/c0 --source synth --slots 8 --duration 600s

vanishes gone "$WORK/member-gone" rm -rf "$WORK/member-gone"
[[ ! -e $WORK/member-gone ]] || fail "the member was made again"
answer=$(tapectl_json record gone/c0 --source synth --blocks 1) && fail "recorded on a LUN whose member is gone: $answer"
expect_error_in "$answer" FAILED_PRECONDITION LUN_OFFLINE

if [[ $EUID != 0 ]]; then
  echo "only root can mount: nothing was mounted over a member, and no disk failed"
else
  old=$(tapectl_json record over/c0 --source synth --blocks 20 | tail -n 1 | jq -r .recording)
  vanishes over "$WORK/member-over" mount_over
  comes_back "$old"
  truncate -s 128M "$WORK/image" && mkfs.ext4 -q "$WORK/image"
  if mount -o loop "$WORK/image" "$WORK/disk" 2>/dev/null; then
    mkdir "$WORK/disk/member"
    make_lun dying "$WORK/disk/member"
    vanishes dying "$WORK/disk/member" fail_disk
    wait_for 5 grep -q 'msg="LUN still offline" lun=luns/dying' "$WORK/storage.log" || fail "its LUN is not tried again"
    is_in_state dying OFFLINE || fail "a disk that takes nothing is READY again"
  else
    echo "no loop device can be mounted here: no disk failed"
  fi
fi
tapectl jobs cancel "$(job_of good | jq -r .name)" >/dev/null
end_job
