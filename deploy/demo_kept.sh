# shellcheck shell=bash
# Sourced by deploy/demo.sh, after deploy/services.sh: both services and the console on loopback, left running until they are
# stopped. What they keep lies in KEPT, and stays for the next time.

KEPT=${XDG_STATE_HOME:-$HOME/.local/state}/tapedeck-demo
KEPT_STORAGE=7400 KEPT_WORKER=7500 KEPT_CONSOLE=7480

# kept_option NAME: what a service of this demo is started with, and no other program.
kept_option() {
  case $1 in
    storage) echo "--state $KEPT/state" ;;
    worker) echo "--listen 127.0.0.1:$KEPT_WORKER" ;;
  esac
}

# began PID: when that process started, in ticks since the machine did. Another process of the same number has another start.
began() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# kept_pid NAME: the process of that service, if it is the one that this demo started.
kept_pid() {
  local pid start words
  read -r pid start <"$KEPT/$1.pid" || return 1
  [[ -n $start && $(began "$pid") == "$start" ]] || return 1
  words=$(tr '\0' ' ' <"/proc/$pid/cmdline") || return 1
  [[ $words == */tapedeck-$1*" $(kept_option "$1") "* ]] && echo "$pid"
} 2>/dev/null

# ports_are_free PORT...: else says who has the first that is not.
ports_are_free() {
  local port who
  for port in "$@"; do
    port_answers "$port" || continue
    who=$(ss -Htlnp "sport = :$port" | sed -n 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1 (process \2)/p' | head -n 1)
    echo "demo: port $port is taken by ${who:-another program}, which is not of this demo; end it, or see deploy/guide/start.md for other ports" >&2
    return 1
  done
}

# kept_start NAME PORT OPTION...
kept_start() {
  local name=$1 port=$2 pid
  shift 2
  setsid nohup "$TAPEDECK_BIN/tapedeck-$name" "$@" >>"$KEPT/$name.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid $(began "$pid")" >"$KEPT/$name.pid"
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
  kept_pid storage >/dev/null || ports_are_free "$KEPT_STORAGE" "$KEPT_CONSOLE"
  kept_pid worker >/dev/null || ports_are_free "$KEPT_WORKER"
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

# stop_kept: both end well; the recordings stay. After 20 s it looks again whose the process is, and insists.
stop_kept() {
  local name pid
  for name in worker storage; do
    if pid=$(kept_pid "$name"); then
      kill -TERM "$pid"
      wait_for 20 eval "! kept_pid $name" || ! pid=$(kept_pid "$name") || kill -KILL "$pid"
      wait_for 5 eval "! kept_pid $name" || { echo "demo: tapedeck-$name (process $pid) does not end" >&2 && return 1; }
    fi
    rm -f "$KEPT/$name.pid"
  done
}
