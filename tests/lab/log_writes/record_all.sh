#!/usr/bin/env bash
# Runs in the virtual machine, for log_writes.sh: records the logs one after another, each on two disks of its own, and
# says of each "recorded FS/KIND STATUS".
#   record_all.sh FS/KIND...
set -uo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Of a recording, which takes 20 s on a machine that has nothing else to do.
LIMIT=150
# shellcheck source=tests/lab/guest.sh
source "$HERE/../guest.sh"

# clear PROCESS_GROUP: what a recording has left behind, whether it came to its end or not.
clear() {
  kill -KILL -- "-$1"
  wait
  free_address
  mountpoint -q "$PLACE/mnt" && umount -l "$PLACE/mnt"
  [[ ! -e /dev/mapper/log ]] || DM_DISABLE_UDEV=1 dmsetup remove --force --retry log
}

# tell_where SECONDS: after so long, what still runs and where in the kernel it waits.
tell_where() {
  local process
  sleep "$1"
  echo "after $1 s:"
  ps -eo pid,ppid,stat,wchan:32,args | awk '!/ \[kworker/'
  for process in $(ps -eo pid,stat | awk '$2 ~ /^D/ {print $1}'); do
    echo "$(cat "/proc/$process/comm") ($process):"
    cat "/proc/$process/stack"
  done
}

number=0
for log in "$@"; do
  export FS=${log%/*} KIND=${log#*/} WORK=/tmp/$number RESULTS=$IMAGES/${log/\//-}/results
  DISK=$(guest_disk $((number * 2))) LOG=$(guest_disk $((number * 2 + 1))) TAPEDECK_SLOWNESS=$(slowness)
  export DISK LOG TAPEDECK_SLOWNESS
  status=0
  mkdir -p "$WORK"
  tell_where $((LIMIT * TAPEDECK_SLOWNESS - 5)) >"$RESULTS/where.out" 2>&1 &
  watcher=$!
  timeout --kill-after=5 $((LIMIT * TAPEDECK_SLOWNESS)) "$HERE/record.sh" >"$RESULTS/record.out" 2>&1 </dev/null &
  group=$!
  wait "$group" || status=$?
  kill "$watcher" 2>/dev/null
  cat "$RESULTS/where.out" >>"$RESULTS/record.out"
  clear "$group" >/dev/null 2>&1
  sync
  echo "recorded $log $status"
  number=$((number + 1))
done
