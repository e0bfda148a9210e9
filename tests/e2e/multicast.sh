#!/usr/bin/env bash
# Two devices on two networks send to one multicast group and port at a time. Each of two jobs joins the group on one interface, and
# records its device whole, and nothing of the other; one that names a sender records that one alone. In network namespaces.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"

GROUP=239.7.7.7
SENDERS=()

# network N: the interface tape N here, 10.7.N.1; on it a device, 10.7.N.2 and 10.7.N.3, in a namespace of its own.
network() {
  unshare -n sleep 600 &
  SENDERS[$1]=$!
  wait_for 5 other_network "${SENDERS[$1]}" || skip "no second network namespace can be made here"
  ip link add "tape$1" type veth peer name device netns "${SENDERS[$1]}" 2>/dev/null || skip "no pair of interfaces (veth) can be made here"
  ip address add "10.7.$1.1/24" dev "tape$1"
  ip link set "tape$1" up
  at_device "$1" ip address add "10.7.$1.2/24" dev device
  at_device "$1" ip address add "10.7.$1.3/24" dev device
  at_device "$1" ip link set device up
  at_device "$1" ip route add 239.0.0.0/8 dev device src "10.7.$1.2"
}
other_network() { [[ $(readlink "/proc/$1/ns/net") != "$(readlink /proc/self/ns/net)" ]]; }

# at_device N COMMAND...
at_device() { nsenter -t "${SENDERS[$1]}" -n "${@:2}"; }

# send N STREAM [EMULATOR_OPTION...]: SENT_N is what the emulator says.
send() {
  at_device "$1" "$TAPEDECK_BIN/tapedeck-emulator" --udp "$GROUP:$PORT" --packets vita49 --stream "$2" --sample-bytes 4 --count 200000 \
    --rate 2MB --begin-ns "$((1700000000 + $2))000000000" "${@:3}" >"$WORK/sent$1.json"
}

# job_on N PARAMETERS: records into l/cN in the background.
job_on() {
  local before
  before=$(job '.name // ""')
  tapectl_json record "l/c$1" --source "ingest:udp=$GROUP:$PORT,packets=vita49,timeout=3,$2" >"$WORK/job$1.json" 2>&1 &
  JOBS[$1]=$!
  LISTENS=$PORT
  wait_for 15 is_listening "$before" || fail "nobody listens: $(<"$WORK/job$1.json")"
  is_listening "$before"
  [[ $PORT == "$LISTENS" ]] || fail "it listens at $PORT"
}

# has_recorded N STREAM: l/cN has what the device of that number sent, and no packet of another.
has_recorded() {
  wait "${JOBS[$1]}" || fail "job $1: $(<"$WORK/job$1.json")"
  json_is "$(tail -n 1 "$WORK/job$1.json")" '.notes | any(.code == "INGEST_COUNTS" and .foreign == "0")' "packets of job $1"
  json_is "$(tapectl_json recordings show "l/c$1/latest")" \
    '.bytes == 800000 and .missing_blocks == 0 and [.annotations[] | select(.label == "lost")] == []' "what job $1 has"
  [[ $(tapectl_json recordings show "l/c$1/latest" | jq -r .start_time) == $(date -u -d "@$((1700000000 + $2))" +%Y-%m-%dT%H:%M:%S)* ]] ||
    fail "job $1 has the other device's samples: $(tapectl recordings show "l/c$1/latest")"
}

in_private_network "$@"
begin_test
need nsenter
network 1
network 2
start_storage
start_worker
tapectl lun create l --store memory --capacity 256MiB >/dev/null
for n in 1 2; do tapectl channel create "l/c$n" --datatype ci16_be --block-bytes 64KiB --sample-rate 1e6 >/dev/null; done

PORT=$(free_port)
declare -A JOBS=()
job_on 1 interface=tape1
job_on 2 interface=tape2
send 1 11 &
FIRST=$!
send 2 22
wait "$FIRST"
has_recorded 1 11
has_recorded 2 22
echo "two devices, one group, two interfaces: each job has its own"

job_on 1 interface=tape1,from=10.7.1.3
send 1 33 # from 10.7.1.2
at_device 1 ip route change 239.0.0.0/8 dev device src 10.7.1.3
send 1 44
has_recorded 1 44
echo "two senders on one interface: the job has the one that it names"
