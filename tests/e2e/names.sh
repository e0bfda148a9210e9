#!/usr/bin/env bash
# Nodes that DNS knows: a name with three addresses and SRV records of three ports are three nodes each, to list, to record to and to
# play from. Their certificates name the host, and a worker calls those alone that it may. A name without an address, with too many, or of
# a server that says nothing is refused, and so are other schemes. What two nodes hold under one name is told apart by the node.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"
need dnsmasq
need openssl
if [[ ${TAPEDECK_PRIVATE_MOUNTS:-} != yes ]]; then
  unshare -nm true 2>/dev/null || skip "no network and mount namespace can be made here"
  TAPEDECK_PRIVATE_MOUNTS=yes exec unshare -nm "$0" "$@"
fi

NODES=3
SERVICE=srv:_grpc._tcp.deck.test

# The machine's resolver asks this one alone, in this namespace.
start_names() {
  local file i
  printf 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n' >"$WORK/resolv.conf"
  printf '127.0.0.1 localhost\n' >"$WORK/hosts"
  printf 'hosts: files dns\n' >"$WORK/nsswitch.conf"
  for file in resolv.conf hosts nsswitch.conf; do mount --bind "$WORK/$file" "/etc/$file"; done
  RECORDS=()
  for i in 1 2 3; do
    RECORDS+=(--host-record="deck.test,127.0.1.$i" --host-record="s$i.deck.test,127.0.1.$i")
    RECORDS+=(--srv-host="_grpc._tcp.deck.test,s$i.deck.test,7400")
  done
  RECORDS+=("--host-record=one.test,127.0.1.1" "--host-record=both.test,127.0.1.1,::1")
  RECORDS+=("--txt-record=empty.test,nothing" "--txt-record=_text._tcp.test,nothing")
  for i in {1..17}; do RECORDS+=(--host-record="many.test,127.0.2.$i"); done
  dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --pid-file= --user=root --local=/test/ \
    --listen-address=127.0.0.1 --bind-interfaces --log-facility="$WORK/dnsmasq.log" "${RECORDS[@]}" &
  NAMES_PID=$!
  wait_for 10 port_answers 53 || fail "dnsmasq does not start"
}

# start_nodes OPTION...: all at one port, each at an address of its own.
start_nodes() {
  local i
  for ((i = 1; i <= NODES; ++i)); do
    "$TAPEDECK_BIN/tapedeck-storage" --listen "127.0.1.$i:7400" --state "$WORK/state$i" --rail "r0=tcp:127.0.1.$i" "$@" \
      >>"$WORK/storage$i.log" 2>&1 &
    PIDS[i]=$!
    SERVICE_PIDS+=("${PIDS[i]}")
    wait_for 15 answers "127.0.1.$i" || fail "node $i does not start"
  done
}

answers() { (exec 3<>"/dev/tcp/$1/7400") 2>/dev/null; }

end_nodes() { for pid in "${PIDS[@]}"; do stop_service "$pid"; done; }

at() { tapectl --storage "s$1.deck.test:7400" "${@:2}"; }

# refuses REASON TEXT COMMAND...: and says so.
refuses() {
  local answer
  answer=$(tapectl_json "${@:3}") && fail "not refused: ${*:3}: $answer"
  last_json_of "$answer"
  json_is "$LAST_JSON" ".error.reason == \"$1\" and (.error.message | contains(\"$2\"))" "${*:3}"
}

addresses_of() { tapectl_json --storage "$1" nodes | jq -c '[.nodes[] | select(.role == "STORAGE") | .address]'; }

list_and_record() {
  local i all recorded listed
  all='["deck.test:7400@127.0.1.1","deck.test:7400@127.0.1.2","deck.test:7400@127.0.1.3"]'
  [[ $(addresses_of dns:///deck.test:7400) == "$all" ]] || fail "the nodes of a host: $(addresses_of dns:///deck.test:7400)"
  all='["s1.deck.test:7400","s2.deck.test:7400","s3.deck.test:7400"]'
  [[ $(addresses_of "$SERVICE") == "$all" ]] || fail "the nodes of a service: $(addresses_of "$SERVICE")"
  for name in dns:///deck.test:7400 "$SERVICE"; do
    recorded=$(tapectl_json --storage "$name" record l0/c0 --source synth --blocks 300) || fail "$name: $recorded"
    json_is "$recorded" ".blocks == 300 and .lost_blocks == 0" "a recording on $name"
    listed=$(tapectl_json --storage "$name" recordings list l0/c0)
    json_is "$(tapectl_json --storage "$name" recordings verify l0/c0/latest)" ".damaged == [] and .checked_blocks == 300" "$name"
    json_is "$(tapectl_json --storage "$name" play l0/c0/latest --sink verify)" ".blocks == 300 and .lost_blocks == 0" "$name"
  done
  json_is "$listed" ".recordings[:2] | length == 2 and all(.blocks == 300)" "two recordings in parts"
  for i in 1 2 3; do at "$i" recordings list l0/c0 | grep -q l0/c0 || fail "node $i has no part"; done
}

begin_test
ip link set lo up
start_names
PIDS=()
start_nodes
WORKER_RAILS=(--rail r0=tcp:127.0.0.1)
start_worker
for i in 1 2 3; do
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 1GiB >/dev/null
  at "$i" channel create l0/c0 --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
list_and_record

# One node by every name that gRPC has for it.
for name in one.test:7400 dns:one.test:7400 dns:///one.test:7400 dns:///both.test:7400 ipv4:127.0.1.1:7400 one.test:7400@127.0.1.1; do
  tapectl --storage "$name" lun list >/dev/null || fail "$name is not asked"
  json_is "$(tapectl_json --storage "$name" record l0/c0 --source synth --blocks 8)" ".blocks == 8" "$name"
done

# What two nodes hold under one name, which a copy makes.
tapectl --storage 127.0.1.1:7400 record l0/c0 --source synth:seed=3 --blocks 40 >/dev/null
tapectl --storage 127.0.1.1:7400 record l0/c0 --source synth:seed=4 --blocks 30 >/dev/null
ID=$(tapectl_json --storage 127.0.1.1:7400 recordings list l0/c0 | jq -r '.recordings[1].name | split("/") | last')
export TAPEDECK_STORAGE=127.0.1.1:7400,127.0.1.2:7400
tapectl recordings copy "127.0.1.1:7400/l0/c0/$ID" --to 127.0.1.2:7400/l0/c0 >/dev/null || fail "no copy by nodes' names"
refuses NAME_INVALID "127.0.1.1:7400/luns/l0/channels/c0/recordings/$ID" play "l0/c0/$ID" --sink verify
refuses NAME_INVALID "127.0.1.2:7400/luns/l0/channels/c0/recordings/$ID" recordings delete "l0/c0/$ID"
refuses NAME_INVALID "no node of --storage is 127.0.1.3:7400" play "127.0.1.3:7400/l0/c0/$ID" --sink verify
listed=$(tapectl_json recordings list l0/c0 | jq -r ".recordings[].name | select(endswith(\"/$ID\"))")
(($(wc -l <<<"$listed") == 2)) || fail "not both are listed: $listed"
while read -r name; do
  json_is "$(tapectl_json play "$name" --sink verify)" ".blocks == 40 and .lost_blocks == 0" "$name"
done <<<"$listed"
json_is "$(tapectl_json play "$ID" --sink verify)" ".blocks == 40" "the original, by its ID"
json_is "$(tapectl_json play l0/c0/latest --sink verify)" ".blocks == 30" "the newest of both nodes"
# Where a node does not answer, the newest may be there.
(
  export TAPEDECK_STORAGE=127.0.1.1:7400,127.0.1.2:1
  refuses NODE_UNREACHABLE 127.0.1.2:1 recordings delete --yes l0/c0/latest
  tapectl play l0/c0/latest --sink verify 2>&1 >/dev/null | grep -q 'node=127.0.1.2:1' || fail "nothing says that a node does not answer"
)
tapectl recordings delete "127.0.1.2:7400/l0/c0/$ID" >/dev/null
json_is "$(tapectl_json play "l0/c0/$ID" --sink verify)" ".blocks == 40" "what one node alone has needs no node"
tapectl recordings move "l0/c0/$ID" --to 127.0.1.2:7400/l0/c0 >/dev/null || fail "it does not move"
at 2 recordings show "l0/c0/$ID" >/dev/null || fail "it has not moved"
refuses NAME_INVALID "several nodes of --storage are $(hostname)" play "$(hostname)/l0/c0/$ID" --sink verify
refuses NAME_INVALID "($(hostname))" play "nobody/l0/c0/$ID" --sink verify
unset TAPEDECK_STORAGE

# What is refused, and why.
refuses ARGUMENT_INVALID "deck.test:7400@127.0.1.2" --storage dns:///deck.test:7400 lun list
refuses NODE_UNREACHABLE "resolve(dns:///empty.test:7400)" --storage dns:///empty.test:7400 lun list
refuses NODE_UNREACHABLE "no such name" --storage srv:_none._tcp.test nodes
refuses NODE_UNREACHABLE "no SRV records" --storage srv:_text._tcp.test nodes
refuses ARGUMENT_INVALID "17 nodes; at most 16 are allowed" --storage dns:///many.test:7400 nodes
refuses ARGUMENT_INVALID "3 nodes, name one" --storage 127.0.1.1:7400 recordings copy l0/c0/latest --to "$SERVICE/l0/c0"
for name in unix:/tmp/socket xds:///one.test:7400 dns://127.0.0.1/one.test:7400 one.test one.test:0 srv:one.test; do
  status=0
  tapectl --storage "$name" lun list 2>"$WORK/refused" || status=$?
  ((status == 2)) || fail "$name: status $status: $(cat "$WORK/refused")"
done

# With certificates: nodes of a name all prove that they are the host of that name. The worker calls those that it may.
end_nodes
stop_service "$WORKER_PID"
authority "$WORK/ca"
certificate "$WORK/ca" deck URI:spiffe://lab/deck,DNS:deck.test,DNS:*.deck.test
for name in worker ann; do certificate "$WORK/ca" "$name" "URI:spiffe://lab/$name,IP:127.0.0.1"; done
start_nodes --tls-cert "$WORK/ca/deck.pem" --tls-key "$WORK/ca/deck.key" --tls-ca "$WORK/ca/ca.pem"
export TAPEDECK_TLS_CERT=$WORK/ca/ann.pem TAPEDECK_TLS_KEY=$WORK/ca/ann.key TAPEDECK_TLS_CA=$WORK/ca/ca.pem
WORKER_OPTIONS=(--tls-cert "$WORK/ca/worker.pem" --tls-key "$WORK/ca/worker.key" --tls-ca "$WORK/ca/ca.pem"
  --storage-allow 'deck.test:7400' --storage-allow '*.deck.test:7400' --storage-allow '127.0.1.1:7400'
  --storage-allow '127.0.1.2:7400' --storage-allow '127.0.1.3:7400')
start_worker
list_and_record
answer=$(tapectl_json --storage 127.0.1.1:7400 lun list) && fail "a certificate without that address: $answer"
expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
answer=$(tapectl_json --storage one.test:7400@127.0.1.1 lun list) && fail "a certificate without that name: $answer"
expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
for name in one.test:7400 dns:one.test:7400 deck.test:7400@127.0.2.1 one.test:7400@127.0.1.1; do
  answer=$(tapectl_json --storage "$name" record l0/c0 --source synth --blocks 8) && fail "the worker called $name: $answer"
  expect_error_in "$answer" PERMISSION_DENIED STORAGE_NOT_ALLOWED
done

# A server that says nothing, and none.
kill -STOP "$NAMES_PID"
begin=$(milliseconds)
refuses NODE_UNREACHABLE "within 2s" --timeout 2s --storage "$SERVICE" nodes
(($(milliseconds) - begin < $(slow 8000))) || fail "it waited for $(($(milliseconds) - begin)) ms"
kill -CONT "$NAMES_PID"
kill "$NAMES_PID"
wait "$NAMES_PID" || true
refuses NODE_UNREACHABLE "no name server answers" --storage dns:///deck.test:7400 nodes
