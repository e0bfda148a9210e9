#!/usr/bin/env bash
# Both nodes with certificates and a policy: records and plays; refuses whoever has no certificate, one of another authority, an
# expired one, no role, or a worker that calls for somebody without one; takes new certificates and a new policy while it records.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"
need openssl

# as NAME COMMAND...: as whoever has that certificate.
as() {
  TAPEDECK_TLS_CERT=$CA/$1.pem TAPEDECK_TLS_KEY=$CA/$1.key TAPEDECK_TLS_CA=$CA/ca.pem "${@:2}"
}

# refused NAME CODE REASON COMMAND...: of tapectl, as that one.
refused() {
  local answer
  answer=$(as "$1" tapectl_json "${@:4}" 2>/dev/null) && fail "$1 was not refused: ${*:4}"
  expect_error_in "$answer" "$2" "$3"
}

# new_policy TEXT: replaces the file whole.
new_policy() {
  printf '%s\n' "$1" >"$WORK/policy.new"
  mv "$WORK/policy.new" "$WORK/policy.yaml"
}

policy() {
  cat <<END
rules:
  - {identities: ["spiffe://lab/root"], role: admin, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/worker/*"], role: worker, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/ann"], role: operator, resources: ["luns/l0/channels/ann"]}
  - {identities: ["spiffe://lab/bob"], role: $1, resources: ["luns/l1/channels/bob"]}
  - {identities: ["spiffe://lab/guest"], role: viewer, resources: ["luns/l0/channels/*"]}
END
}

logged() { grep -q "$1" "$WORK/storage.log"; }

# start_recording NAME CHANNEL: in the background, until some blocks have moved.
start_recording() {
  as "$1" tapectl_json record "$2" --source synth --duration 60s >"$WORK/$1.json" 2>"$WORK/$1.log" &
  RECORDER=$!
  wait_for 10 as root records "${2#*/}" || fail "$1 does not record: $(cat "$WORK/$1.json" "$WORK/$1.log")"
}

records() { tapectl_json recordings list | jq -e --arg channel "/channels/$1/" '.recordings | any(.state == "RECORDING" and (.name | contains($channel)))'; }

# The number of the certificate that a new connection to the storage node is shown.
serial() {
  { openssl s_client -connect "$TAPEDECK_STORAGE" -cert "$CA/root.pem" -key "$CA/root.key" </dev/null 2>/dev/null || true; } |
    openssl x509 -noout -serial
}

# Every name that the certificates and the policy know.
make_certificates() {
  local name
  CA=$WORK/ca
  authority "$CA"
  authority "$CA/other"
  certificate "$CA" storage URI:spiffe://lab/storage,IP:127.0.0.1
  certificate "$CA" worker URI:spiffe://lab/worker/w0,IP:127.0.0.1
  for name in root ann bob guest nobody; do certificate "$CA" "$name" "URI:spiffe://lab/$name"; done
  certificate "$CA" expired URI:spiffe://lab/root -1
  certificate "$CA" nameless "" 30 /O=lab
  certificate "$CA/other" root URI:spiffe://lab/root
}

refuses_to_start() {
  local said
  said=$("$TAPEDECK_BIN/tapedeck-storage" --listen 0.0.0.0:0 --state "$WORK/none" --rail r0=tcp:127.0.0.1 2>&1) && fail "it listens to all in plain text"
  [[ $said == *--tls-cert*--insecure* ]] || fail "it does not say what to type: $said"
  said=$("$TAPEDECK_BIN/tapedeck-storage" --listen 127.0.0.1:0 --state "$WORK/none" --rail r0=tcp:127.0.0.1 --tls-cert "$CA/expired.pem" \
    --tls-key "$CA/expired.key" --tls-ca "$CA/ca.pem" 2>&1) && fail "it takes an expired certificate"
  [[ $said == *expired.pem*expired*TLS_UNUSABLE* ]] || fail "not that it has expired: $said"
  said=$("$TAPEDECK_BIN/tapedeck-worker" --listen 127.0.0.1:0 --rail r0=tcp:127.0.0.1 --tls-cert "$CA/worker.pem" \
    --tls-key "$CA/storage.key" --tls-ca "$CA/ca.pem" 2>&1) && fail "it takes another one's key"
  [[ $said == *storage.key*worker.pem*TLS_UNUSABLE* ]] || fail "not whose key it is: $said"
}

begin_test
make_certificates
refuses_to_start
new_policy "$(policy operator)"
STORAGE_OPTIONS=(--tls-cert "$CA/storage.pem" --tls-key "$CA/storage.key" --tls-ca "$CA/ca.pem" --policy "$WORK/policy.yaml")
WORKER_OPTIONS=(--tls-cert "$CA/worker.pem" --tls-key "$CA/worker.key" --tls-ca "$CA/ca.pem")
start_storage
start_worker

# The whole way, and whose recording it is.
CHANNEL=(--datatype cf32_le --block-bytes 64KiB --sample-rate 1e6)
# Each in a ring of its own, which the other does not push anything out of.
for channel in l0/ann l1/bob; do
  as root tapectl lun create "${channel%/*}" --store memory --capacity 128MiB --full-policy ring >/dev/null
  as root tapectl channel create "$channel" "${CHANNEL[@]}" >/dev/null
done
as ann tapectl record l0/ann --source synth --blocks 32 >/dev/null 2>&1 || fail "ann cannot record"
is_whole "$(as ann tapectl_json play l0/ann/latest --sink verify 2>/dev/null)" "ann's playback"
json_is "$(as ann tapectl_json recordings show l0/ann/latest)" '.origin.worker == "spiffe://lab/ann"' "the recorder"

# A worker that others can ask gives its own files to nobody, unless it was told which.
refused ann PERMISSION_DENIED FILE_OUTSIDE_ROOTS record l0/ann --source "file:$CA/worker.key"
refused ann PERMISSION_DENIED FILE_OUTSIDE_ROOTS play l0/ann/latest --sink "file:$CA/worker.key" --replace

# No certificate, one of another authority, one that has expired, one that names nobody; TLS 1.2.
answer=$(tapectl_json --timeout 5s lun list 2>/dev/null) && fail "plain text was answered"
expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
[[ $answer == *certificates* ]] || fail "nothing of certificates in: $answer"
answer=$(TAPEDECK_TLS_CERT=$CA/other/root.pem TAPEDECK_TLS_KEY=$CA/other/root.key TAPEDECK_TLS_CA=$CA/ca.pem \
  tapectl_json --timeout 5s lun list 2>/dev/null) && fail "a certificate of another authority was taken"
expect_error_in "$answer" UNAVAILABLE 'NODE_UNREACHABLE|PEER_LOST'
refused expired 'FAILED_PRECONDITION|UNAVAILABLE' 'TLS_UNUSABLE|NODE_UNREACHABLE' lun list
refused nameless PERMISSION_DENIED ACCESS_DENIED lun list
openssl s_client -connect "$TAPEDECK_STORAGE" -tls1_2 -cert "$CA/root.pem" -key "$CA/root.key" </dev/null >"$WORK/tls12.log" 2>&1 &&
  fail "it speaks TLS 1.2"
wait_for 5 logged "no shared cipher" || fail "not for that it is refused: $(tail -n 3 "$WORK/tls12.log")"

# Without a role, with too small a one, and another tenant's channel, which lists do not show either.
refused nobody PERMISSION_DENIED ACCESS_DENIED recordings list
refused guest PERMISSION_DENIED ACCESS_DENIED keep l0/ann/latest
refused guest PERMISSION_DENIED ACCESS_DENIED lun delete l0 --force
ANNS=$(as ann tapectl_json recordings list | jq -r '.recordings[0].name')
refused bob PERMISSION_DENIED ACCESS_DENIED recordings show "$ANNS"
json_is "$(as bob tapectl_json channel list)" '[.channels[].name] == ["luns/l1/channels/bob"]' "bob's channels"
json_is "$(as bob tapectl_json recordings list)" '.recordings == []' "bob's recordings"
logged 'refused identity=spiffe://lab/guest .*needs=operator has=viewer rule="line 6"' || fail "no line of the refusal of guest"

# A worker asks for whoever asked it, and cannot do more. The worker itself has no policy here.
refused guest PERMISSION_DENIED ACCESS_DENIED record l0/ann --source synth --blocks 4
refused bob PERMISSION_DENIED ACCESS_DENIED play "$ANNS" --sink null
refused worker PERMISSION_DENIED ACCESS_DENIED record l0/ann --source synth --blocks 4

# answers STATUS NAME NODE METHOD [OPTION OF raw_call.py...]: what NAME gets to hear.
answers() {
  local said
  said=$("$(dirname "${BASH_SOURCE[0]}")/raw_call.py" "$3" "$CA/ca.pem" "$CA/$2.pem" "$CA/$2.key" "$4" "${@:5}") || fail "raw_call.py"
  [[ $said == "$1" ]] || fail "$2 calls $4 of $3 and hears $said, not $1"
}
if /usr/bin/python3 -c 'import grpc' 2>/dev/null; then
  # Nobody calls for others who is no worker, and at a worker without a policy nobody does.
  for node in "$TAPEDECK_WORKER" "$TAPEDECK_STORAGE"; do
    answers PERMISSION_DENIED guest "$node" /tapedeck.v1.NodeService/GetNode --for spiffe://lab/root
  done
  # Reflection is gRPC's own service. The message asks for the list of services.
  answers PERMISSION_DENIED nobody "$TAPEDECK_STORAGE" /grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo --message 3a00
  answers OK guest "$TAPEDECK_STORAGE" /grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo --message 3a00
else
  echo "python3-grpcio is not installed: nobody tried to call for others, or for reflection"
fi

# New certificates while it records: open connections go on, new ones see them.
start_recording ann l0/ann
before=$(serial)
certificate "$CA" storage URI:spiffe://lab/storage,IP:127.0.0.1
certificate "$CA" worker URI:spiffe://lab/worker/w1,IP:127.0.0.1
shows_another() { [[ $(serial) != "$before" ]]; }
wait_for 10 shows_another || fail "the new certificate is not used"
as root records ann || fail "the recording ended: $(cat "$WORK/ann.json" "$WORK/ann.log")"

# A wrong policy changes nothing and is found; one without bob ends what bob records, and nobody else.
start_recording bob l1/bob
BOB=$RECORDER
new_policy "rulez: []"
wait_for 5 logged "new policy file is wrong.*policy.yaml:1" || fail "a wrong policy is not told of"
found=$(as root tapectl_json doctor 2>/dev/null) || true
json_is "$found" 'any(.findings[]; .code == "POLICY_UNUSABLE" and .node == "storage")' "the doctor on the policy"
new_policy "$(policy viewer)"
wait "$BOB" && fail "bob goes on"
expect_error_in "$(cat "$WORK/bob.json")" PERMISSION_DENIED ACCESS_DENIED
as root records ann || fail "ann's recording ended with bob's"
refused bob PERMISSION_DENIED ACCESS_DENIED record l1/bob --source synth --blocks 4
as ann tapectl jobs cancel "$(as ann tapectl_json jobs list | jq -r '[.jobs[] | select(.state == "RUNNING")][0].name')" >/dev/null
wait "$RECORDER" || true
for channel in l0/ann l1/bob; do as root tapectl recordings verify "$channel/latest" >/dev/null || fail "what $channel recorded"; done
