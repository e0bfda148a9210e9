#!/usr/bin/env bash
# The wall clock of two storage nodes and a worker steps by hours and by ten years, forwards and back. They record and follow meanwhile,
# and no block is lost; a paced playback of a group keeps its pace. A revocation, the loss of a LUN's member and max_age count within
# two seconds, and no recording is too old because the clock went ahead. A playback and a group begin at their time, and a standby
# takes over. libfaketime steps the clock that the programs see; the kernel's stays. An emulated machine may take two seconds more than
# the same took in it without a step.
#   clock_steps.sh [--machine]   the clock of this machine, a virtual one of tests/lab, and back
# TAPEDECK_LONG=1: steps of a second, too; without it a machine, which is slow, takes two.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"
source "$(dirname "${BASH_SOURCE[0]}")/paced_group_lib.sh"

STEPS_MACHINE=${1:-}
PORTS=() PIDS=()
OFFSET=0 HOUR=3600 YEAR=31536000 # seconds
STEPS=($((3 * HOUR)) $((-10 * YEAR)) $((-10 * YEAR + 3 * HOUR)) 0)
RATE=2MB BLOCKS_A_SECOND=31
LIMIT=2000 # milliseconds
declare -A UNSTEPPED=()
[[ -z $STEPS_MACHINE ]] || STEPS=($((3 * HOUR)) 0) RATE=64kB BLOCKS_A_SECOND=1 PACE=0.002
[[ -z ${TAPEDECK_LONG:-} ]] ||
  STEPS=(1 0 -1 $((3 * HOUR)) 0 $((-3 * HOUR)) $((-10 * YEAR)) $((-10 * YEAR + 3 * HOUR)) $((10 * YEAR)) 0)

find_libfaketime() {
  [[ -z $STEPS_MACHINE ]] || return 0
  LIBFAKETIME=$(find /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null | head -n 1)
  [[ -n $LIBFAKETIME ]] || skip "libfaketime is not installed"
  # Without a compiler the programs look at files for the steady clock, and spin for its timers.
  ! c++ -shared -fPIC -O1 -o "$WORK/steady_calls.so" "$(dirname "${BASH_SOURCE[0]}")/steady_calls.cc" 2>"$WORK/steady_calls.log" ||
    LIBFAKETIME=$WORK/steady_calls.so:$LIBFAKETIME
}

# by_clock COMMAND...: what it starts goes by the clock that is stepped.
by_clock() {
  if [[ -n $STEPS_MACHINE ]]; then
    "$@"
  else
    LD_PRELOAD=$LIBFAKETIME FAKETIME_TIMESTAMP_FILE=$WORK/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
      DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 "$@"
  fi
}

# step_to SECONDS: from the right time.
step_to() {
  if [[ -n $STEPS_MACHINE ]]; then
    "$(dirname "${BASH_SOURCE[0]}")/step_clock.py" $(($1 - OFFSET))
  else
    printf '%+d\n' "$1" >"$WORK/clock.new"
    mv "$WORK/clock.new" "$WORK/clock"
  fi
  OFFSET=$1
}

# shellcheck disable=SC2317
put_right() {
  local status=$?
  step_to 0
  (exit "$status") && true
  end_test
}

# Valid from eleven years ago on, for more than ten years to come.
make_certificates() {
  local name
  CA=$WORK/ca
  step_to $((-11 * YEAR))
  by_clock authority "$CA" 9000
  for name in root view; do by_clock certificate "$CA" "$name" "URI:spiffe://lab/$name" 9000; done
  by_clock certificate "$CA" node "URI:spiffe://lab/node,IP:127.0.0.1" 9000
  step_to 0
  VIEW_SERIAL=$(openssl x509 -in "$CA/view.pem" -noout -serial | sed s/.*=//)
}

# new_policy [SERIAL]: which is revoked.
new_policy() {
  cat >"$WORK/policy.new" <<END
rules:
  - {identities: ["spiffe://lab/root"], role: admin, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/node"], role: worker, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/view"], role: viewer, resources: ["luns/*"]}
revoked: [${1:+\"$1\"}]
END
  mv "$WORK/policy.new" "$WORK/policy.yaml"
}

view_calls() { TAPEDECK_TLS_CERT=$CA/view.pem TAPEDECK_TLS_KEY=$CA/view.key tapectl lun list; }
view_is_refused() { ! view_calls; }

address() { echo "127.0.0.1:${PORTS[$1]}"; }

# start_node N
start_node() {
  PORTS[$1]=$(free_port)
  by_clock start_service "$WORK/storage$1.log" "${PORTS[$1]}" "$TAPEDECK_BIN/tapedeck-storage" \
    --listen "$(address "$1")" --state "$WORK/state$1" --tls-cert "$CA/node.pem" --tls-key "$CA/node.key" --tls-ca "$CA/ca.pem" --policy "$WORK/policy.yaml" --follow-memory 64MiB \
    "${STORAGE_RAILS[@]}" --standby-for "$WORK/member-pair"
  PIDS[$1]=$SERVICE_PID
}

make_lun() {
  mkdir -p "$WORK/member-$1"
  tapectl lun create "$1" --store posix --member "$WORK/member-$1" "${@:2}" >/dev/null
  tapectl channel create "$1/c0" --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
}

# lun_is LUN STATE
lun_is() { tapectl_json lun list | jq -e "[.luns[] | select(.name == \"luns/$1\")][0].state == \"$2\""; }

# record_into LUN WHEN: RECORDED is its name.
record_into() {
  local answer
  answer=$(tapectl_json record "$1/c0" --source synth --blocks 4 2>&1) || fail "nothing is recorded at $2: $answer"
  last_json_of "$answer"
  RECORDED=$(jq -r .recording <<<"$LAST_JSON")
}

# record_aged WHEN: AGED is too old in two hours.
record_aged() { record_into aged "$1" && AGED=$RECORDED; }
is_there() { tapectl recordings show "$1"; }
is_gone() { ! is_there "$1"; }

# emulate PORT SECONDS: a device of a low rate.
emulate() { "$TAPEDECK_BIN/tapedeck-emulator" --tcp "127.0.0.1:$1" --rate "$RATE" --duration "$2s" --packet-bytes 8192 >"$WORK/sent.json"; }

# in_time WHAT COMMAND...: it succeeds each time that it is begun after the limit. How long it takes itself does not count.
in_time() {
  local began begun
  began=$(milliseconds)
  while true; do
    begun=$(($(milliseconds) - began))
    ! "${@:2}" >/dev/null 2>&1 || break
    [[ $AT == none ]] || ((begun < LIMIT + ${UNSTEPPED[$1]:-0} || begun < $(slow "$LIMIT"))) || fail "clock at $AT s: not in $begun ms: $1"
    ((begun < 60000)) || fail "without a step: not in a minute: $1"
    sleep 0.15
  done
  [[ $AT != none || -z $STEPS_MACHINE ]] || UNSTEPPED[$1]=$begun
  echo "clock at $AT s: $1 after $begun ms"
}

# deadlines_hold: a revocation and the loss of a member, that both come back, and the age of what is recorded now.
deadlines_hold() {
  record_into brief "$AT s"
  new_policy "$VIEW_SERIAL"
  mv "$WORK/member-gone" "$WORK/elsewhere"
  in_time "the member is missed" lun_is gone OFFLINE
  in_time "the certificate is revoked" view_is_refused
  new_policy
  mv "$WORK/elsewhere" "$WORK/member-gone"
  in_time "the certificate is valid again" view_calls
  # A LUN that was lost is tried again at longer and longer intervals.
  in_time "the member is back" lun_is gone READY
  in_time "what is too old is gone" is_gone "$RECORDED" # it was to live for a second
}

# shellcheck disable=SC2016
resumed() { job '.state == "RUNNING" and .resumes == $resumes' -e --argjson resumes "$1"; }

# run_now JOBS: the recording, what follows it, two members of a group, and a playback.
run_now() { tapectl_json jobs list | jq -e "[.jobs[] | select(.state == \"RUNNING\")] | length == $1"; }

# What is to begin in an hour begins after a step by an hour: a playback, and a group on both nodes.
begins_at_its_time() {
  local pid group at
  at=$(date -u -d "@$(($(date +%s) + HOUR + $(slow 4)))" +%Y-%m-%dT%H:%M:%SZ)
  record_group steps --blocks 64 --at "$at" >"$WORK/group.json" 2>"$WORK/group.log" &
  group=$!
  wait_for 5 run_now 4 || fail "the group does not start: $(cat "$WORK/group.log")"
  tapectl_json play "$AGED" --sink null --at "$at" >"$WORK/at.json" 2>&1 &
  pid=$!
  wait_for 5 run_now 5 || fail "the playback does not start: $(cat "$WORK/at.json")"
  step_to $HOUR
  wait_for 15 eval "! kill -0 $pid" || fail "a playback does not begin at its time"
  wait "$pid" || fail "a playback failed: $(cat "$WORK/at.json")"
  wait_for 15 eval "! kill -0 $group" || fail "a group does not begin at its time"
  wait "$group" || true # where the step comes after the instant, blocks are missing
  json_is "$(<"$WORK/group.json")" '.jobs | length == 2 and all(.blocks == 64)' "both members have all blocks or name them: $(<"$WORK/group.log")"
  json_is "$(<"$WORK/group.json")" '[.jobs[].timing.after_at_s] | max - min < 1.5' "a member looks at the clock each second"
  step_to 0
}

# follows: what follows is less than two seconds behind what is recorded.
follows() {
  tapectl_json jobs list | jq -e --arg recording "$RECORDING" --argjson most $((2 * BLOCKS_A_SECOND)) \
    '[.jobs[] | select(.state == "RUNNING" and .recording == $recording)] | length == 2 and ([.[].blocks] | max - min <= $most)'
}

# What was recorded from the first step to the last, and what followed it.
all_is_there() {
  local followed
  tapectl jobs cancel "$RECORD_JOB" >/dev/null
  end_ingest
  wait "$FOLLOWER" || fail "what followed failed: $(cat "$WORK/follow.json")"
  followed=$(tail -n 1 "$WORK/follow.json")
  tapectl recordings verify "$RECORDING" >/dev/null || fail "what was recorded while the clock stepped"
  json_is "$(tapectl_json recordings show "$RECORDING")" '.state == "SEALED" and .missing_blocks == 0' "what was recorded"
  is_whole "$followed" "what followed"
  echo "$(jq .blocks <<<"$followed") blocks were recorded and followed while the clock stepped"
}

take_over() {
  local began
  CHANNEL=pair/c0 RECORD_OPTIONS=(--standby "$(address 1)")
  begin_ingest tcp=127.0.0.1:0,timeout=30
  emulate "$PORT" "$(slow 5)" &
  wait_for 10 resumed 0 || fail "the job does not run: $(job)"
  step_to 0
  began=$(milliseconds)
  kill_service "${PIDS[0]}"
  wait_for 15 resumed 1 || fail "the standby does not take over: $(job)"
  echo "a standby took over after $(($(milliseconds) - began)) ms"
  TAPEDECK_STORAGE=$(address 1)
  end_ingest
  is_whole "$ANSWER" "what the standby took over"
}

begin_test
trap put_right EXIT
need openssl
find_libfaketime
make_certificates
new_policy
mkdir "$WORK/member-pair"
start_node 0
start_node 1
WORKER_DEVICE=host WORKER_OPTIONS=(--tls-cert "$CA/node.pem" --tls-key "$CA/node.key" --tls-ca "$CA/ca.pem")
by_clock start_worker
TAPEDECK_STORAGE=$(address 0)
export TAPEDECK_STORAGE TAPEDECK_TLS_CERT=$CA/root.pem TAPEDECK_TLS_KEY=$CA/root.key TAPEDECK_TLS_CA=$CA/ca.pem
make_lun live
make_lun gone
make_lun pair
make_lun aged --max-age 2h
make_lun brief --max-age 1s
make_group_luns
record_aged "the beginning"
CHANNEL=live/c0
begin_ingest tcp=127.0.0.1:0,timeout=60
emulate "$PORT" 3600 & # until the job is cancelled
wait_for 10 resumed 0 || fail "the job does not run: $(job)"
read -r RECORD_JOB RECORDING <<<"$(job '"\(.name) \(.recording)"')"
tapectl_json play "$RECORDING" --follow --behind 100ms --sink null >"$WORK/follow.json" 2>&1 &
FOLLOWER=$!

begins_at_its_time
play_group
AT=none
[[ -z $STEPS_MACHINE ]] || deadlines_hold
for AT in "${STEPS[@]}"; do
  step_to "$AT"
  deadlines_hold
  is_there "$AGED" >/dev/null || fail "clock at $AT s: a recording is too old because the clock went ahead"
  record_aged "$AT s"
  pace_holds
  in_time "what is recorded is followed" follows
done
group_ends
all_is_there
grep -q "the clock jumped ahead" "$WORK/storage0.log" || fail "the log does not say that the clock jumped ahead"
step_to $HOUR
stop_service "$WORKER_PID"
by_clock start_worker # its newest job is then that of the latest time
take_over
