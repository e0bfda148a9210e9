#!/usr/bin/env bash
# After 100 sessions (200 with TAPEDECK_LONG), a quarter of them dropped in mid-air, no thread, descriptor or pinned byte is
# left behind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SESSIONS=$(scaled "$([[ -n ${TAPEDECK_LONG:-} ]] && echo 200 || echo 100)")

# usage PID: threads, descriptors, locked and pinned kB, resident kB.
usage() {
  awk -v fds="$(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l)" \
    '/^Threads:/ {t = $2} /^Vm(Lck|Pin):/ {l += $2} /^VmRSS:/ {r = $2} END {print t, fds, l, r}' "/proc/$1/status"
}

whole_session() {
  local answer
  answer=$(tapectl_json record l0/c0 --source synth --blocks 1) || fail "a session: $answer"
  tapectl recordings delete --yes "$(jq -r .recording <<<"$answer")" >/dev/null
}

# Interrupted as by Ctrl-C in the middle of its work, which stops its job. Where tapectl has not heard of the job yet, though the worker
# shows it, tapectl says that the job may run: then it is stopped.
dropped_session() {
  local name recording
  start_job record l0/c0 --source synth --duration 30s
  read -r name recording < <(job '"\(.name) \(.recording)"')
  kill -INT "$(pgrep -P "$JOB_PID" tapectl)"
  end_job
  if ((JOB_STATUS == 130)); then
    tapectl jobs cancel "$name" >/dev/null
    wait_for 20 is_closed "$recording" || fail "$name goes on: $(job)"
  fi
  tapectl recordings delete --yes "$recording" >/dev/null
}

# run COUNT SESSION: one after the other.
run() {
  local number
  for ((number = 0; number < $1; number++)); do
    "$2"
  done
}

# sessions COUNT: three quarters whole ones, three at a time; the rest dropped.
sessions() {
  local runners=() runner
  for runner in 1 2 3; do
    run $(($1 / 4)) whole_session &
    runners+=($!)
  done
  for runner in "${runners[@]}"; do
    wait "$runner"
  done
  run $(($1 / 4)) dropped_session
}

# settled PID EXPECTED_THREADS EXPECTED_DESCRIPTORS: what is torn down in the background is gone.
settled() {
  local threads descriptors
  read -r threads descriptors _ _ < <(usage "$1")
  ((threads <= $2 && descriptors <= $3))
}

# compare NAME PID BEFORE: threads and descriptors may differ by gRPC's idle ones, resident memory by 16 MiB and a little for each
# session.
compare() {
  local -a before after
  read -ra before <<<"$3"
  wait_for 10 settled "$2" $((before[0] + 4)) $((before[1] + 4)) || true
  read -ra after < <(usage "$2")
  echo "$1 before: $3; after $SESSIONS sessions: ${after[*]} (threads, descriptors, locked and pinned kB, resident kB)"
  ((after[0] <= before[0] + 4)) || fail "$1 leaks threads"
  ((after[1] <= before[1] + 4)) || fail "$1 leaks descriptors"
  ((after[2] <= before[2])) || fail "$1 leaks locked or pinned memory"
  ((after[3] <= before[3] + 16 * 1024 + 80 * SESSIONS)) || fail "$1 leaks memory"
}

begin_test
start_storage
start_worker
# A ring: however long a session lasts before it is dropped, there is room.
lun_of_kind memory l0 --capacity "$(scaled 1024 64)MiB" --full-policy ring
tapectl channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
sessions 8
sleep 2
storage=$(usage "$STORAGE_PID") worker=$(usage "$WORKER_PID")
sessions "$SESSIONS"
json_is "$(tapectl_json recordings list)" '.recordings == []' "every session's recording could be deleted"
compare tapedeck-storage "$STORAGE_PID" "$storage"
compare tapedeck-worker "$WORKER_PID" "$worker"
