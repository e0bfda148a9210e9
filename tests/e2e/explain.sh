#!/usr/bin/env bash
# tapectl explain names what bounds a transfer, whichever stage is made slow: each REPEAT times (1), or those named alone.
export TAPEDECK_RAILS="r0=tcp:127.0.0.2 r1=tcp:127.0.0.3" # not the address of the control connections
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
in_private_network "$@"

REPEAT=${REPEAT:-1}
SECONDS_LONG=1.4
FAR_STORAGE=
CASES=("$@")
((${#CASES[@]})) || CASES=(disk flush one_rail both_rails source gpu crc sink ring)
SLOW_CALLS_LIBRARY=${TAPEDECK_BIN%/bin}/tests/e2e/libslow_calls.so

# slow_calls storage|worker SETTINGS: from now on, e.g. write=20.
slow_calls() {
  echo "$2" >"$WORK/slow.$1.new"
  mv "$WORK/slow.$1.new" "$WORK/slow.$1"
}

# rates R0 R1: of the rails, in Mbit/s; 0: as fast as the machine is.
rates() {
  local mbit class=10
  for mbit in "$@"; do
    class=$((class + 1))
    tc class replace dev lo parent 1: classid 1:$class htb rate "$((mbit ? mbit : 100000))mbit" burst 256k cburst 256k quantum 65536
  done
}

make_rates() {
  need tc
  tc qdisc add dev lo root handle 1: htb 2>/dev/null || skip "this kernel has no htb to slow rails down with"
  rates 0 0
  tc filter add dev lo parent 1: protocol ip u32 match ip dst 127.0.0.2/32 flowid 1:11
  tc filter add dev lo parent 1: protocol ip u32 match ip dst 127.0.0.3/32 flowid 1:12
}

# limited_by WHAT NAME: the explanation of NAME has it.
limited_by() {
  local answer
  answer=$(tapectl_json explain "$2") || fail "$2 is not explained: $answer"
  jq -c '{limited_by, stages: [.stages[] | "\(.name) \(.share * 100 | round) %"]}' <<<"$answer" | sed "s/^/$1: /"
  json_is "$answer" ".limited_by == \"$1\"" "$2"
  json_is "$answer" '.stages[0].name == .limited_by and .advice != "" and all(.stages[]; .share >= 0 and .share < 1.1)' "$2"
}

# has_run BEFORE: a newer job than that one has for half of its time.
# shellcheck disable=SC2016
has_run() { job '.name != $before and .elapsed_s >= $long / 2' -e --arg before "$1" --argjson long "$SECONDS_LONG"; }

# records WHAT CHANNEL ARGUMENT...: with 32 slots if those say nothing else, whose memory is soon there. A recording for SECONDS_LONG, of which the job, while it runs and then, and the recording tell.
records() {
  local before recording
  before=$(job '.name // ""')
  [[ " $* " == *" --slots "* ]] || set -- "$@" --slots 32
  tapectl_json record "$2" --duration "${SECONDS_LONG}s" "${@:3}" >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 30 has_run "$before" || fail "the recording did not get going: $(cat "$WORK/job.json" "$WORK/job.log")"
  limited_by "$1" "$(job .name)" >/dev/null
  end_job
  ((JOB_STATUS == 0)) || fail "recording into $2: $ANSWER"
  recording=$(jq -r .recording <<<"$ANSWER")
  limited_by "$1" "$(jq -r .name <<<"$ANSWER")" >/dev/null
  limited_by "$1" "$recording"
  tapectl recordings delete "$recording" >/dev/null
}

limit_disk() {
  slow_calls storage write=40
  records store posix/c0 --source "file:$WORK/capture" --loop
  slow_calls storage ""
}

# A recording begins with some flushes for its manifest, which are the store's.
limit_flush() {
  slow_calls storage flush=100
  SECONDS_LONG=8 records flush posix/c0 --source "file:$WORK/capture" --loop --slots 32
  slow_calls storage ""
}

limit_one_rail() {
  rates 0 80
  records "rail r1" memory/c0 --source "file:$WORK/capture" --loop --slots 16
  rates 0 0
}

limit_both_rails() {
  rates 160 160
  records wire memory/c0 --source "file:$WORK/capture" --loop
  rates 0 0
}

limit_source() {
  slow_calls worker read=40
  records source memory/c0 --source "file:$WORK/capture" --loop
  slow_calls worker ""
}

# Of the host, for which the FFT stands.
limit_gpu() {
  slow_calls worker fft=3
  records gpu memory/c0 --source "file:$WORK/capture" --loop --fft 65536
  slow_calls worker ""
}

limit_crc() {
  slow_calls worker crc=1
  slow_calls storage crc=1
  records crc memory/c0 --source "file:$WORK/capture" --loop
  slow_calls worker ""
  slow_calls storage ""
}

limit_sink() {
  local recording
  recording=$(tapectl_json record memory/c0 --source "file:$WORK/capture" --blocks 80 --loop | jq -r .recording)
  slow_calls worker write=40
  limited_by sink "$(tapectl_json play "$recording" --sink "file:$WORK/played" --replace | jq -r .name)"
  slow_calls worker ""
  tapectl recordings delete "$recording" >/dev/null
}

# The nodes of the test, and those of limit_ring.
near_services() { export TAPEDECK_STORAGE=127.0.0.1:$STORAGE_PORT TAPEDECK_WORKER=127.0.0.1:$WORKER_PORT; }

far_services() { export TAPEDECK_STORAGE=10.9.0.1:7400 TAPEDECK_WORKER=10.9.0.2:7500; }

far_worker_answers() { (exec 3<>"/dev/tcp/10.9.0.2/7500") 2>/dev/null; }

# far_nodes: a storage node here and a worker in a network namespace a long way off; once.
far_nodes() {
  if [[ -z $FAR_STORAGE ]]; then
    need nsenter
    "${BASH_SOURCE[0]%.sh}/long_way.py" 25 >"$WORK/way" 2>"$WORK/way.log" &
    FAR_AWAY=$!
    wait_for 10 grep -q ready "$WORK/way" || fail "no long way can be made here: $(cat "$WORK/way.log")"
    start_service "$WORK/far_storage.log" 7400 "$TAPEDECK_BIN/tapedeck-storage" --insecure --listen 0.0.0.0:7400 \
      --state "$WORK/far" --rail r0=tcp:10.9.0.1
    FAR_STORAGE=$SERVICE_PID
    nsenter -t "$FAR_AWAY" -n "$TAPEDECK_BIN/tapedeck-worker" --insecure --listen 10.9.0.2:7500 --device host --rail r0=tcp:10.9.0.2 \
      --file-root "read:$WORK" >>"$WORK/far_worker.log" 2>&1 &
    SERVICE_PIDS+=("$!")
    wait_for 15 far_worker_answers || fail "no worker answers from afar"
    far_services
    CAPACITY=64MiB lun_with_channel memory far/c0 cf32_le 64KiB
  fi
  far_services
}

# A worker at the end of a long way, with few slots.
limit_ring() {
  far_nodes
  records ring far/c0 --source "file:$WORK/capture" --loop --slots 4
  near_services
}

# Nothing is kept of what has not moved a block.
case_errors() {
  local answer
  answer=$(tapectl_json explain jobs/999 2>/dev/null) || true
  expect_error_in "$answer" NOT_FOUND JOB_NOT_FOUND
  answer=$(tapectl_json explain memory/c0/20200101T000000Z-00000000 2>/dev/null) || true
  expect_error_in "$answer" NOT_FOUND RECORDING_NOT_FOUND
}

begin_test
[[ -e $SLOW_CALLS_LIBRARY ]] || skip "$SLOW_CALLS_LIBRARY is not built"
make_rates
slow_calls storage ""
slow_calls worker ""
head -c 64M /dev/urandom >"$WORK/capture"
LD_PRELOAD=$SLOW_CALLS_LIBRARY SLOW_CALLS=$WORK/slow.storage start_storage
LD_PRELOAD=$SLOW_CALLS_LIBRARY SLOW_CALLS=$WORK/slow.worker WORKER_DEVICE=host start_worker
near_services
CAPACITY=512MiB lun_with_channel memory memory/c0 cf32_le 512KiB
CAPACITY=8GiB lun_with_channel posix posix/c0 cf32_le 1MiB
case_errors
for case in "${CASES[@]}"; do
  for ((i = 0; i < REPEAT; ++i)); do "limit_$case"; done
done
echo "each of ${CASES[*]} was named, $REPEAT times"
