# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: sites, what runs at them, and kills. ROUND counts from 0, KILLED is how many processes were killed.

# in_form SHORT LONG: what the short form has, or the long one.
in_form() { if [[ -z ${TAPEDECK_LONG:-} ]]; then echo "$1"; else echo "$2"; fi; }

# start_nodes N: so many storage nodes, all of which what follows is over.
start_nodes() {
  local i
  for ((i = 0; i < $1; ++i)); do
    PORTS[i]=$(free_port)
    ADDRESSES[i]=127.0.0.1:${PORTS[i]}
    start_node "$i"
  done
  over "${!ADDRESSES[@]}"
}

# one_node STORE CAPACITY BLOCK_BYTES: a storage node with the channel l0/c0, and a worker.
one_node() {
  start_nodes 1
  start_worker
  CAPACITY=$2 lun_with_channel "$1" l0/c0 cf32_le "$3"
}

# several_nodes N: each with a LUN and a channel l0/c0, and a worker.
several_nodes() {
  local i
  start_nodes "$1"
  for ((i = 0; i < $1; ++i)); do
    mkdir -p "$WORK/member$i"
    at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
    at "$i" channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  done
  start_worker
}

# record [OPTION...]: into CHANNEL, from synth for a minute if the options name nothing else. Returns when blocks move.
record() {
  [[ " $* " == *" --source "* ]] || set -- --source synth "$@"
  [[ " $* " =~ \ --(blocks|duration)\  ]] || set -- --duration 60s "$@"
  start_job record "$CHANNEL" "$@"
}

# stream RATE OPTION...: one recording over all rounds, with these options; with more rounds than in the short form, what a device
# sends that does not wait, at that rate.
stream() {
  ((ROUND == 0)) || return 0
  if ! is_device; then
    record "${@:2}"
    return
  fi
  RECORD_OPTIONS=(--resume-for 60s)
  begin_ingest "udp=127.0.0.1:0,timeout=5"
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate "$1" --duration 1h --packet-bytes 1024 >"$WORK/sent.json" &
  DEVICE_PID=$!
  wait_for 10 job_has_more_than 0 || fail "nothing comes: $(job)"
}
is_device() { ((KILLS > FEW)); }

# end_stream: ANSWER is its job, well ended if it has an end.
end_stream() {
  if is_device; then
    kill -INT "$DEVICE_PID" # it sends the end of the stream
    wait "$DEVICE_PID" || fail "the device failed"
    end_ingest
  else
    end_job
  fi
  BLOCKS=$(jq .blocks <<<"$ANSWER")
}

# note_progress: RECORDING is what is recorded, SEEN how much of it the worker says is acknowledged.
note_progress() { RECORDING=$(newest_recording) SEEN=$(job .blocks); }

# kill_process PID
kill_process() {
  KILLED_AT=$(milliseconds)
  kill_service "$1"
  KILLED=$((KILLED + 1))
}
kill_node() { VICTIM=$1 && kill_process "${PIDS[$1]}"; }
kill_worker() { kill_process "$WORKER_PID"; }

# kill_tapectl PID: it may be done.
kill_tapectl() {
  kill -KILL "$1" 2>/dev/null || true
  KILLED=$((KILLED + 1))
}
