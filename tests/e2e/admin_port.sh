#!/usr/bin/env bash
# Whatever strangers do to an admin port, a recording beside it loses nothing, probes are answered, and memory and threads of the
# node stay where they were. A node that is asked to stop says that it is not ready, and lives until it has ended.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/honest_lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"

ABUSE_SECONDS=$([[ -n ${TAPEDECK_LONG:-} ]] && echo 60 || echo 4)
MAX_GROWTH_KB=$((32 * 1024))

# used: threads and resident KiB of the storage node.
used() { awk '/^VmRSS/ {kb = $2} /^Threads/ {print $2, kb}' "/proc/$STORAGE_PID/status"; }

# probe_until_gone PID: until that process has ended; sets ASKED, ANSWERED, and the most THREADS and KB that were seen.
probe_until_gone() {
  local threads kb
  ASKED=0 ANSWERED=0 THREADS=0 KB=0
  while kill -0 "$1" 2>/dev/null; do
    ASKED=$((ASKED + 1))
    [[ $(ask storage /healthz 2>/dev/null) != ok ]] || ANSWERED=$((ANSWERED + 1))
    read -r threads kb < <(used)
    ((threads <= THREADS)) || THREADS=$threads
    ((kb <= KB)) || KB=$kb
    sleep 0.2
  done
}

abuse_does_no_harm() {
  local threads kb alone attacker
  honest_recording_alone c0 $((ABUSE_SECONDS / 2))
  alone=$(rate)
  honest_recording c0
  ask storage /metrics >/dev/null
  read -r threads kb < <(used)
  # It stands for other machines, whose processors are their own; with the lowest priority, other programs would keep it from running.
  nice -n 5 /usr/bin/python3 "$(dirname "$0")/admin_abuse.py" "$ABUSE_SECONDS" "$STORAGE_ADMIN" >"$WORK/abuse.txt" &
  attacker=$!
  probe_until_gone "$attacker"
  wait "$attacker" || fail "not all of the abuse came about: $(cat "$WORK/abuse.txt")"
  echo "abuse: $(cat "$WORK/abuse.txt")"
  echo "$ANSWERED of $ASKED probes were answered; threads $threads before, $THREADS at most; resident KiB $kb before, $KB at most"
  ((ASKED > 0 && ANSWERED * 10 >= ASKED * 9)) || fail "probes were not answered"
  ((THREADS <= threads + 4)) || fail "threads have grown"
  ((KB - kb <= MAX_GROWTH_KB)) || fail "memory has grown"
  stop_job
  ((JOB_STATUS == 0)) || fail "the recording failed: $ANSWER"
  is_whole "$ANSWER" "a recording beside the abuse"
  echo "the recording had $(jq -n "$(rate) / $alone * 100 | floor") % of its rate alone"
  expect 1 storage tapedeck_lun_online
}

is_ready() { [[ $(ask "$1" /readyz 2>/dev/null) == "$2" ]]; }

draining_is_told() {
  for node in storage worker; do is_ready $node ok || fail "the $node is not ready: $(ask $node /readyz 2>&1)"; done
  honest_recording c0
  kill -TERM "$STORAGE_PID"
  wait_for 4 is_ready storage draining || fail "the node drains and says: $(ask storage /readyz 2>&1)"
  [[ $(ask storage /healthz) == ok ]] || fail "a node that drains lives"
  [[ $(curl -so /dev/null -w '%{http_code}' "http://127.0.0.1:$STORAGE_ADMIN/readyz") == 503 ]] || fail "not 503"
  end_job
  wait_for 15 eval "! is_running $STORAGE_PID" || fail "the node does not end"
}

begin_test
with_admin_ports
make_ring c0
abuse_does_no_harm
draining_is_told
