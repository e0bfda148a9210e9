# shellcheck shell=bash
# Sourced by deploy/demo.sh, after deploy/services.sh: both services and the console on loopback, left running until they are
# stopped. What they keep lies in KEPT, and stays for the next time.

KEPT=${XDG_STATE_HOME:-$HOME/.local/state}/tapedeck-demo
KEPT_STORAGE=7400 KEPT_WORKER=7500 KEPT_CONSOLE=7480

# kept_pid NAME: the process of that service, if it still is that program.
kept_pid() {
  local pid
  pid=$(cat "$KEPT/$1.pid" 2>/dev/null) || return 1
  [[ $(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 1) == */tapedeck-$1 ]] && echo "$pid"
}

# kept_start NAME PORT OPTION...
kept_start() {
  local name=$1 port=$2 pid
  shift 2
  if port_answers "$port"; then
    echo "demo: port $port is taken; end what listens there, or see deploy/guide/start.md for other ports" >&2
    return 1
  fi
  setsid nohup "$TAPEDECK_BIN/tapedeck-$name" "$@" >>"$KEPT/$name.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$KEPT/$name.pid"
  if ! wait_for 15 started_or_dead "$pid" "$port" || ! kill -0 "$pid" 2>/dev/null; then
    echo "demo: tapedeck-$name did not start; its log ends:" >&2
    tail -n 5 "$KEPT/$name.log" >&2
    return 1
  fi
}

kept_lun() {
  tapectl lun list | grep -q '^demo ' && return
  mkdir -p "$KEPT/member"
  tapectl lun create demo --store posix --member "$KEPT/member"
  tapectl channel create demo/c0 --datatype cf32_le --sample-rate 1e6
}

# keep: starts what does not run yet.
keep() {
  export TAPEDECK_STORAGE=127.0.0.1:$KEPT_STORAGE TAPEDECK_WORKER=127.0.0.1:$KEPT_WORKER
  mkdir -p "$KEPT"
  kept_pid storage >/dev/null || kept_start storage "$KEPT_STORAGE" --listen "$TAPEDECK_STORAGE" --state "$KEPT/state" \
    --console "127.0.0.1:$KEPT_CONSOLE" --console-worker "local=$TAPEDECK_WORKER" "${STORAGE_RAILS[@]}"
  kept_pid worker >/dev/null || kept_start worker "$KEPT_WORKER" --listen "$TAPEDECK_WORKER" --device auto "${WORKER_RAILS[@]}"
  kept_lun
  cat <<TEXT
console  http://127.0.0.1:$KEPT_CONSOLE
files    $KEPT
stop     deploy/demo.sh --stop
TEXT
}

# stop_kept: both end well; the recordings stay.
stop_kept() {
  local name pid
  for name in worker storage; do
    pid=$(kept_pid "$name") || continue
    kill -TERM "$pid"
    wait_for 20 eval "! kept_pid $name" || kill -KILL "$pid"
    rm -f "$KEPT/$name.pid"
  done
}
