#!/usr/bin/env bash
# deploy/demo.sh --keep and --stop: both services start, stay and end. A process that the demo did not start is neither used nor
# ended, whatever number a file of the demo has. On a network of its own: the demo's ports are fixed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need ip
if [[ ${TAPEDECK_PRIVATE_NETWORK:-} != yes ]]; then
  unshare -n true 2>/dev/null || skip "no network namespace can be made here"
  TAPEDECK_PRIVATE_NETWORK=yes exec unshare -n "$0" "$@"
fi
ip link set lo up
export TAPEDECK_BIN

demo() { "$TAPEDECK_ROOT/deploy/demo.sh" "$@" >"$WORK/demo.log" 2>&1; }
# is_alive PID: not so one that has ended and that nobody has collected.
is_alive() { [[ -n $(tr -d '\0' <"/proc/$1/cmdline") ]] 2>/dev/null; }
runs() { is_alive "$1" || fail "$2 was ended: $(cat "$WORK/demo.log")"; }
# start_of PID: as the demo writes it.
start_of() { awk '{sub(/.*\) /, ""); print $20}' "/proc/$1/stat"; }

keeps_and_stops() {
  local pid
  demo --keep || fail "it does not start: $(cat "$WORK/demo.log")"
  read -r pid _ <"$KEPT/storage.pid"
  demo --keep || fail "it does not go on: $(cat "$WORK/demo.log")"
  [[ $pid == "$(cut -d ' ' -f 1 "$KEPT/storage.pid")" ]] || fail "a second --keep starts another node"
  demo --stop || fail "it does not stop: $(cat "$WORK/demo.log")"
  ! is_alive "$pid" || fail "the node still runs"
  [[ -d $KEPT/member && ! -e $KEPT/storage.pid && ! -e $KEPT/worker.pid ]] || fail "it leaves $(ls "$KEPT")"
}

# A node of somebody else has the port, and the number that the demo's node had.
spares_a_foreign_node() {
  STORAGE_PORT=7400
  start_storage
  for written in "$STORAGE_PID" "$STORAGE_PID $(start_of "$STORAGE_PID")"; do
    echo "$written" >"$KEPT/storage.pid"
    ! demo --keep || fail "it goes on with a foreign node: $(cat "$WORK/demo.log")"
    grep -q "port 7400 is taken by tapedeck-storag.* (process $STORAGE_PID)" "$WORK/demo.log" || fail "no name: $(cat "$WORK/demo.log")"
    tapectl lun list >"$WORK/luns.log"
    ! grep -q '^demo' "$WORK/luns.log" || fail "it makes a LUN on a foreign node"
    demo --stop || fail "it does not stop: $(cat "$WORK/demo.log")"
    runs "$STORAGE_PID" "a foreign node"
  done
  stop_service "$STORAGE_PID"
}

# A process with the demo's own options, started at another time than the file says: by hand, or before a reboot.
spares_another_start() {
  start_service "$WORK/worker.log" 7500 "$TAPEDECK_BIN/tapedeck-worker" --listen 127.0.0.1:7500 --device host "${WORKER_RAILS[@]}"
  for written in "$SERVICE_PID" "$SERVICE_PID $(($(start_of "$SERVICE_PID") - 1))"; do
    echo "$written" >"$KEPT/worker.pid"
    demo --stop || fail "it does not stop: $(cat "$WORK/demo.log")"
    runs "$SERVICE_PID" "a worker that the demo did not start"
  done
  ! demo --keep || fail "it goes on with a worker of somebody else"
  [[ ! -e $KEPT/storage.pid ]] || fail "it starts one service although the other cannot start"
  stop_service "$SERVICE_PID"
}

# While --stop waits, its process ends and another gets the number: no signal may reach that. The wait is made to be that moment.
looks_again_before_it_insists() (
  local pid
  source "$TAPEDECK_ROOT/deploy/demo_kept.sh"
  demo --keep || fail "it does not start: $(cat "$WORK/demo.log")"
  read -r pid _ <"$KEPT/worker.pid"
  kill -STOP "$pid"
  kill() { echo "$*" >>"$WORK/signals"; }
  wait_for() {
    ((${1} < 20)) || echo "$pid 1" >"$KEPT/worker.pid"
    ((${1} < 20))
  }
  rm "$KEPT/storage.pid"
  stop_kept
  [[ $(<"$WORK/signals") == "-TERM $pid" ]] || fail "signals: $(cat "$WORK/signals")"
)

# What this test started and the demo no longer knows of.
end_kept() {
  local status=$? pid
  for pid in $(ss -Htlnp | grep -o 'pid=[0-9]*' | cut -d = -f 2 | sort -u); do
    kill -KILL "$pid" 2>/dev/null || true
  done
  trap - ERR
  set +e
  (exit "$status")
  end_test
}

begin_test
trap end_kept EXIT
export XDG_STATE_HOME=$WORK/home
KEPT=$XDG_STATE_HOME/tapedeck-demo
keeps_and_stops
spares_a_foreign_node
spares_another_start
looks_again_before_it_insists
