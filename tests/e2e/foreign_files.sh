#!/usr/bin/env bash
# foreign_files.sh [CYCLES]: a thousand files, folders, links, sockets and FIFOs of others lie on the members of two LUNs, named
# like Tapedeck's own. Recordings are made, deleted and overwritten by a ring, scrubbed, cut off by kill -9, and the catalog is
# rebuilt: afterwards every foreign entry is what it was, byte for byte. strace sees no path below a member followed through a link.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CYCLES=${1:-$([[ -n ${TAPEDECK_LONG:-} ]] && echo 200 || echo 10)}
LUNS=(posix ring)

# All that others have, of which PLANTED is the list: kinds, modes, sizes, targets of links, contents.
# shellcheck disable=SC2185
print_foreign() {
  find -files0-from "$PLANTED" -maxdepth 0 -printf '%p %y %m %l\n' 2>&1 || true
  find -files0-from "$PLANTED" -maxdepth 0 -type f -print0 2>/dev/null | xargs -0 sha256sum 2>&1 || true
}

has_spares() { (($(find "$WORK/member-$1/.tapedeck/spares" -name '[0-9]' | wc -l) >= 2)); }

plant() {
  local lun root before=$WORK/before.list after=$WORK/after.list
  PLANTED=$WORK/planted
  for lun in "${LUNS[@]}"; do wait_for 20 has_spares "$lun" || fail "$lun has no spares"; done
  find "$WORK"/member-* -print0 | LC_ALL=C sort -z >"$before"
  for lun in "${LUNS[@]}"; do
    root=$WORK/member-$lun
    "$(dirname "${BASH_SOURCE[0]}")/foreign_entries.py" "$root" "$WORK/outside" "$((${#lun} * 1000 + 1))" "$((${#lun} * 1000 + 90))"
    mkdir -p "$root/projects/.tapedeck/spares"
    cp "$root/.tapedeck/lun.json" "$root/projects/.tapedeck/"
    head -c 1M /dev/zero >"$root/.tapedeck/spares/900"
    echo half >"$root/.tapedeck/spares/901.part"
    ln -s "$WORK/outside" "$root/.tapedeck/spares/902"
  done
  find "$WORK"/member-* "$WORK/outside" -print0 | LC_ALL=C sort -z >"$after"
  LC_ALL=C comm -z -13 "$before" "$after" >"$PLANTED"
  echo "$(tr -dc '\0' <"$PLANTED" | wc -c) foreign entries"
  (($(tr -dc '\0' <"$PLANTED" | wc -c) >= 1000)) || fail "too few of them"
  print_foreign >"$WORK/print.before"
}

is_as_it_was() {
  print_foreign >"$WORK/print.now"
  diff "$WORK/print.before" "$WORK/print.now" >"$WORK/print.diff" || fail "$1: $(head -n 20 "$WORK/print.diff")"
}

cycle() {
  local lun name
  for lun in "${LUNS[@]}"; do
    tapectl record "$lun/c0" --source synth --blocks 100 >/dev/null
    json_is "$(tapectl_json scrub start "$lun" --rate 100GB)" '.state == "DONE" and .damaged == 0' "scrub of $lun"
  done
  for name in $(tapectl_json recordings list posix/c0 | jq -r '.recordings[1:][].name'); do
    tapectl recordings delete "$name" >/dev/null
  done
  start_job record posix/c0 --source synth --duration 1h --slots 2 --resume-for 0s
  kill_service "$STORAGE_PID"
  end_job
  if (($1 % 4 == 0)); then
    "$TAPEDECK_BIN/tapedeck-storage" --state "$WORK/state" --rebuild-catalog >>"$WORK/storage.log" 2>&1 || fail "--rebuild-catalog"
  fi
  start_storage
  is_as_it_was "cycle $1"
}

# followed TRACE: the calls that might have followed a link. Below a member all is reached from descriptors of directories, and
# nothing is looked at but as what it is itself; no descriptor leads outside.
followed() {
  grep -F "<$WORK/outside" "$1" || true
  grep -F "\"$WORK/outside" "$1" || true
  grep -E "\"$WORK/member-[a-z]+/" "$1" || true
  grep -E "newfstatat\([0-9]+<$WORK/member-" "$1" | grep -vE 'AT_SYMLINK_NOFOLLOW|AT_EMPTY_PATH' || true
  grep -E "openat\([0-9]+<$WORK/member-" "$1" | grep -vE 'O_NOFOLLOW|O_TMPFILE' || true
  grep -E "openat2\([0-9]+<$WORK/member-" "$1" | grep -v RESOLVE_NO_SYMLINKS || true
}

without_links() {
  local traced seen
  command -v strace >/dev/null || {
    echo "strace is not installed, so no system calls were looked at"
    return 0
  }
  stop_service "$STORAGE_PID"
  # With a file for each thread no call is written in two parts, with another thread's between them.
  start_service "$WORK/storage.log" "$STORAGE_PORT" strace -ff --seccomp-bpf -y -s 4096 -e trace=file,openat2 -o "$WORK/trace" \
    "$TAPEDECK_BIN/tapedeck-storage" --listen "$TAPEDECK_STORAGE" --state "$WORK/state" "${STORAGE_RAILS[@]}" ||
    { echo "strace may not trace here, so no system calls were looked at" && start_storage && return 0; }
  traced=$SERVICE_PID
  tapectl record posix/c0 --source synth --blocks 100 >/dev/null
  json_is "$(tapectl_json scrub start posix --rate 100GB)" '.state == "DONE"' "scrub under strace"
  tapectl recordings delete "$(tapectl_json recordings list posix/c0 | jq -r '.recordings[0].name')" >/dev/null
  # strace itself takes no signals.
  kill -TERM "$(pgrep -P "$traced")"
  wait "$traced" || true
  cat "$WORK"/trace.* >"$WORK/trace"
  start_storage
  grep -q "RESOLVE_NO_SYMLINKS" "$WORK/trace" || fail "no openat2 in the trace"
  seen=$(followed "$WORK/trace")
  [[ -z $seen ]] || fail "followed: $(head -n 5 <<<"$seen")"
  echo "strace: $(wc -l <"$WORK/trace") calls, none through a link"
}

begin_test
start_storage
start_worker
mkdir "$WORK/member-posix" "$WORK/member-ring" "$WORK/outside"
tapectl lun create posix --store posix --member "$WORK/member-posix" --capacity 2GiB --prewrite-files 2 --prewrite-bytes 1MiB >/dev/null
tapectl lun create ring --store posix --member "$WORK/member-ring" --capacity 16MiB --full-policy ring --prewrite-files 2 \
  --prewrite-bytes 1MiB >/dev/null
tapectl channel create posix/c0 --datatype cf32_le --sample-rate 1e6 --block-bytes 64KiB >/dev/null
tapectl channel create ring/c0 --datatype cf32_le --sample-rate 1e6 --block-bytes 64KiB --segment 1MiB >/dev/null
plant
for ((number = 1; number <= CYCLES; ++number)); do cycle "$number"; done
without_links
is_as_it_was "strace"
answer=$(tapectl_json lun create full --store posix --member "$WORK/outside") && fail "made a LUN of somebody's folder: $answer"
expect_error_in "$answer" FAILED_PRECONDITION MEMBER_NOT_EMPTY
answer=$(tapectl_json lun create in --store posix --member "$WORK/member-posix/projects") && fail "made a LUN in a LUN: $answer"
expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
grep -q 'msg="recording deleted".* why=' "$WORK/storage.log" || fail "no deletion in the log"
grep -q "left alone: not Tapedeck's" "$WORK/storage.log" || fail "nothing in the log of what was left alone"
for lun in "${LUNS[@]}"; do tapectl lun delete "$lun" --force >/dev/null; done
is_as_it_was "the LUNs' deletion"
echo "$CYCLES cycles"
