#!/usr/bin/env bash
# hostile_client.sh [SECONDS]: a hostile client does all it can think of beside an honest recording: duplicates and grants whose
# answers it does not read, announcements, offers, streams, calls and sockets without end, sessions that wait for nothing. The
# recording keeps every block, the node's memory stays within 128 MiB and comes back, and what falls silent is gone within 10 s.
# The client stands for other machines, whose processors are their own: where there are eight or more it gets a quarter of
# them for itself, and the services have the rest, alone as beside it; elsewhere it has the lowest priority.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/honest_lib.sh"

SECONDS_OF_IT=${1:-$([[ -n ${TAPEDECK_LONG:-} ]] && echo 60 || echo 5)}
MAX_GROWTH_KB=$((128 * 1024))

resident_kb() { awk '/^VmRSS/ {print $2}' "/proc/$STORAGE_PID/status"; }

# rail_addresses: where the storage node listens, gRPC aside.
rail_addresses() {
  ss -Hltnp | awk -v pid="pid=$STORAGE_PID," -v grpc=":$STORAGE_PORT" 'index($0, pid) && !index($4, grpc) {print $4}'
}

# becomes_quiet SECONDS: what the client says until then is in hostile.txt.
becomes_quiet() {
  local line until=$((SECONDS + $1))
  while read -r -t $((until - SECONDS)) line; do
    echo "$line" >>"$WORK/hostile.txt"
    [[ $line != quiet ]] || return 0
  done <"$WORK/said"
  return 1
}

came_back() { (($(resident_kb) - rested <= MAX_GROWTH_KB / 3)); }

# The largest resident size since then, by the kernel's own account: what looks again and again takes processor time from
# the recording. clear_refs: proc(5).
forget_peak() { echo 5 >"/proc/$STORAGE_PID/clear_refs"; }
peak_kb() { awk '/^VmHWM/ {print $2}' "/proc/$STORAGE_PID/status"; }

# sessions: how many the node has.
sessions() { tapectl_json nodes | jq '[.. | .sessions? // empty] | max'; }

has_sessions() { (($(sessions) == $1)); }

begin_test
apart
start_storage
start_worker
make_ring c0
CAPACITY=64MiB lun_with_channel memory h0/c cf32_le 64KiB
for name in c-a c-b c-c c-d; do tapectl channel create "h0/$name" --block-bytes 64KiB >/dev/null; done
victim=$(tapectl_json record h0/c --source synth --blocks 50 | jq -r .recording)
mapfile -t rails < <(rail_addresses)
# The ring's memory is resident from here on, however slow this machine is.
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 600)" "a recording of more than the ring holds"

honest_recording_alone c0 $((SECONDS_OF_IT / 2))
alone=$(rate)
rested=$(resident_kb)

honest_recording c0
before=$(resident_kb)
forget_peak
mkfifo "$WORK/said"
"${AS_OTHERS[@]}" "$TAPEDECK_BIN/tapedeck-hostile" "$TAPEDECK_STORAGE" luns/h0/channels/c "$victim" "$SECONDS_OF_IT" "${rails[@]}" \
  >"$WORK/said" 2>"$WORK/hostile.log" &
hostile=$!
becomes_quiet $((6 * SECONDS_OF_IT + 20)) || fail "the hostile client is not quiet: $(tail -n 5 "$WORK/hostile.log")"
silent=$(milliseconds)
paste -sd' ' "$WORK/hostile.txt"
! grep -q ' 0$' "$WORK/hostile.txt" || fail "an attack never began"
stop_job
((JOB_STATUS == 0)) || fail "the honest recording failed: $ANSWER"
is_whole "$ANSWER" "an honest recording beside a hostile client"
wait_for 20 has_sessions 0 || fail "$(sessions) hostile sessions are still there"
gone=$(($(milliseconds) - silent))
echo "hostile sessions are gone $gone ms after the client fell silent"
((gone <= $(slow 10000))) || fail "they may take 10 s"
grown=$(($(peak_kb) - before))
echo "resident memory: $before KiB before, $grown KiB more at most"
((grown <= MAX_GROWTH_KB)) || fail "resident memory grew by $grown KiB"
echo "resident memory while it is silent: $(resident_kb) KiB"
kill "$hostile"
wait_for 10 came_back || fail "resident memory did not come back: $rested KiB before, $(resident_kb) KiB afterwards"
echo "resident memory came back: $rested KiB before, $(resident_kb) KiB afterwards"
ratio=$(jq -n "$(rate) / $alone * 100 | floor")
echo "the honest recording had $ratio % of its rate alone"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 50)" "recording afterwards"
