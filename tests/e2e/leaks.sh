#!/usr/bin/env bash
# After 200 sessions opened and dropped, a quarter of them cancelled in mid-air, no thread, descriptor or pinned
# byte is left behind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SESSIONS=200 AT_ONCE=4

# usage PID: threads, descriptors, locked kB, resident kB.
usage() {
  awk -v fds="$(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l)" \
    '/^Threads:/ {t = $2} /^VmLck:/ {l = $2} /^VmRSS:/ {r = $2} END {print t, fds, l, r}' "/proc/$1/status"
}

# One session to its end, or cancelled once it runs.
one_session() {
  local answer
  if (($1 % 4 == 0)); then
    tapectl_json record l0/c0 --source synth --duration 30s >"$WORK/cancelled-$1.json" 2>&1 || true
  else
    answer=$(tapectl_json record l0/c0 --source synth --blocks 1) || fail "session $1: $answer"
    tapectl recordings delete "$(jq -r .recording <<<"$answer")" >/dev/null
  fi
}

# Cancels whatever runs long, until told to stop.
cancel_long_jobs() {
  local name
  while [[ ! -e $WORK/stop ]]; do
    for name in $(tapectl_json jobs list | jq -r '.jobs[] | select(.state == "RUNNING" and .blocks > 1) | .job'); do
      tapectl jobs cancel "$name" >/dev/null 2>&1 || true
    done
    sleep 0.1
  done
}

# sessions FROM TO
sessions() {
  local canceller number
  rm -f "$WORK/stop"
  cancel_long_jobs &
  canceller=$!
  for ((number = $1; number < $2; number++)); do
    one_session "$number" &
    (((number + 1) % AT_ONCE != 0)) || wait_for_sessions "$canceller"
  done
  wait_for_sessions "$canceller"
  touch "$WORK/stop"
  wait "$canceller"
}

# Waits for every child but the services and the canceller.
wait_for_sessions() {
  local pid
  for pid in $(jobs -rp); do
    [[ $pid == "$1" || $pid == "$STORAGE_PID" || $pid == "$WORKER_PID" ]] || wait "$pid"
  done
}

# settled PID EXPECTED_THREADS EXPECTED_DESCRIPTORS: what is torn down in the background is gone.
settled() {
  local threads descriptors
  read -r threads descriptors _ _ < <(usage "$1")
  ((threads <= $2 && descriptors <= $3))
}

# compare NAME PID BEFORE: threads and descriptors may differ by gRPC's idle ones, resident memory by 32 MiB.
compare() {
  local -a before after
  read -ra before <<<"$3"
  wait_for 10 settled "$2" $((before[0] + 4)) $((before[1] + 4)) || true
  read -ra after < <(usage "$2")
  echo "$1 before: $3; after $SESSIONS sessions: ${after[*]} (threads, descriptors, locked kB, resident kB)"
  ((after[0] <= before[0] + 4)) || fail "$1 leaks threads"
  ((after[1] <= before[1] + 4)) || fail "$1 leaks descriptors"
  ((after[2] <= before[2])) || fail "$1 leaks locked memory"
  ((after[3] <= before[3] + 32 * 1024)) || fail "$1 leaks memory"
}

begin_test
start_storage
start_worker
CAPACITY=2GiB lun_with_channel memory l0/c0 cf32_le 64KiB
sessions 0 8
sleep 2
storage=$(usage "$STORAGE_PID") worker=$(usage "$WORKER_PID")
sessions 0 "$SESSIONS"
for name in $(tapectl_json recordings list | jq -r '.recordings[].name'); do
  tapectl recordings delete "$name" >/dev/null
done
compare tapedeck-storage "$STORAGE_PID" "$storage"
compare tapedeck-worker "$WORKER_PID" "$worker"
