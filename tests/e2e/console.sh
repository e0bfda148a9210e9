#!/usr/bin/env bash
# The console by curl, as a page calls it: a LUN and a channel are made, a recording is listed, explained and deleted, a worker's
# jobs are looked at, statistics come as events; then the same port with certificates and a policy.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/authority.sh"

# call METHOD JSON [OPTION OF curl...]: the answer of a call, METHOD being SERVICE/METHOD, of a worker with workers/NAME/ before it.
call() {
  local path=/api/tapedeck.v1.$1
  [[ $1 != workers/* ]] || path=/api/${1%/*/*}/tapedeck.v1.${1#workers/*/}
  curl -sS --max-time 40 -H 'Content-Type: application/json' --data "$2" "${@:3}" "$CONSOLE$path"
}

# listed FILTER: of the recordings.
listed() { call CatalogService/ListRecordings "$ALL" | jq -e "$1" >/dev/null; }

# stream [OPTION OF curl...]: statistics, for some seconds.
stream() {
  curl -sSN --max-time 3 -H 'Accept: text/event-stream' -H 'Content-Type: application/json' --data '{}' "$@" \
    "$CONSOLE/api/tapedeck.v1.NodeService/WatchStats" 2>/dev/null || true
}

# stream_says WORD [OPTION OF curl...]: within some seconds.
stream_says() {
  local said
  said=$(stream "${@:2}")
  grep -q "^data: {.*$1" <<<"$said" || fail "the stream has no $1: $said"
}

# same_form WHAT ANSWER PRINTED: an object of the console's is the one that tapectl prints, which may have more.
same_form() {
  jq -en --argjson a "$2" --argjson b "$3" '$a == ($b | with_entries(select(.key as $key | $a | has($key))))' >/dev/null ||
    fail "two forms of $1: $2 and $3"
}

# typed NAME ANSWER: the page's type has the answer's keys; one with a ? may be absent.
typed() {
  local members
  members=$(sed -n "/^export interface $1 {/,/^}/s/^  \([a-z0-9_]*\)\(?\{0,1\}\):.*/\1 \2/p" "$TAPEDECK_ROOT/services/console/web/src/types.ts")
  [[ -n $members ]] || fail "the page has no type $1"
  jq -en --argjson a "$2" --arg members "$members" '($members | split("\n") | map(split(" "))) as $all | ($a | keys) as $keys
    | ($keys - ($all | map(.[0])) == []) and (($all | map(select(.[1] != "?") | .[0])) - $keys == [])' >/dev/null ||
    fail "the page's type $1 and the answer differ: $2"
}

plain() {
  local answer name
  STORAGE_OPTIONS=(--console "127.0.0.1:$CONSOLE_PORT" --console-worker "w0=127.0.0.1:$WORKER_PORT")
  if ! start_storage; then
    ! grep -q "built without libmicrohttpd" "$WORK/storage.log" || skip "this build is without libmicrohttpd"
    fail "the storage node does not start"
  fi
  start_worker
  CONSOLE=http://127.0.0.1:$CONSOLE_PORT
  json_is "$(curl -sS "$CONSOLE/api/console")" '.workers == ["w0"] and .identity == "" and (.node | endswith("/storage"))' "what it is"
  curl -sS "$CONSOLE/" | grep -qi '<!doctype html>' || fail "there is no page"

  json_is "$(call CatalogService/CreateLun '{"lun_id":"l0","lun":{"store":"memory","capacity_bytes":268435456}}')" '.name == "luns/l0"' "a new LUN"
  json_is "$(call CatalogService/CreateChannel '{"parent":"luns/l0","channel_id":"c0","channel":{"block_bytes":1048576,"datatype":"cf32_le","sample_rate":1e6}}')" \
    '.name == "luns/l0/channels/c0"' "a new channel"
  tapectl_json record l0/c0 --source synth --blocks 64 >/dev/null
  wait_for 10 listed '.recordings[0].state == "SEALED"' || fail "no recording: $(call CatalogService/ListRecordings "$ALL")"
  name=$(call CatalogService/ListRecordings "$ALL" | jq -r '.recordings[0].name')
  json_is "$(call CatalogService/ExplainRecording "{\"name\":\"$name\"}")" '.limited_by != "" and (.stages[0].name == .limited_by or (.limited_by | IN("nothing", "unknown"))) and .text != ""' "why"
  json_is "$(call workers/w0/PipelineService/ListJobs '{}')" '.jobs | length == 1' "the worker's jobs"
  json_is "$(call workers/w0/PipelineService/ExplainJob '{"name":"jobs/1"}')" '.limited_by != "" and .running == false' "why of the job"
  same_form "a LUN" "$(call CatalogService/GetLun '{"name":"luns/l0"}')" "$(tapectl_json lun list | jq '.luns[0]')"
  same_form "a recording" "$(call CatalogService/GetRecording "{\"name\":\"$name\"}")" "$(tapectl_json recordings show "$name")"
  same_form "a job" "$(call workers/w0/PipelineService/GetJob '{"name":"jobs/1"}')" "$(tapectl_json jobs show 1)"
  same_form "a worker" "$(call workers/w0/NodeService/GetNode '{}' | jq 'del(.sessions)')" "$(tapectl_json nodes | jq '.nodes[] | select(.role == "WORKER")')"
  typed Lun "$(call CatalogService/GetLun '{"name":"luns/l0"}')"
  typed Channel "$(call CatalogService/GetChannel '{"name":"luns/l0/channels/c0"}')"
  typed Recording "$(call CatalogService/GetRecording "{\"name\":\"$name\"}")"
  typed Timeline "$(call ViewService/GetTimeline "{\"recording\":\"$name\"}")"
  typed Explanation "$(call CatalogService/ExplainRecording "{\"name\":\"$name\"}")"
  typed Scrub "$(call RecorderService/GetScrub '{"parent":"luns/l0"}')"
  typed Stats "$(stream | sed -n '/^data: /{s///p;q}')"
  typed NodeInfo "$(call NodeService/GetNode '{}')"
  typed Job "$(call workers/w0/PipelineService/GetJob '{"name":"jobs/1"}')"
  stream_says '"blocks":64,'
  json_is "$(call CatalogService/DeleteRecording "{\"name\":\"$name\"}")" '. == {}' "the deletion"
  listed '.recordings == []' || fail "the recording is there"
  answer=$(call CatalogService/GetRecording "{\"name\":\"$name\"}" -w '%{http_code}')
  [[ $answer == *404 && $answer == *RECORDING_NOT_FOUND* ]] || fail "a recording that is gone: $answer"
  answer=$(call CatalogService/DeleteLun '{"name":"luns/l0"}' -H 'Origin: http://elsewhere.example' -w '%{http_code}')
  [[ $answer == *403 ]] || fail "a foreign page deletes: $answer"
  tapectl lun list | grep -q l0 || fail "the LUN is gone"
}

# hostile_requests SECONDS: whatever is said there, both nodes live, others are answered, and memory stays.
hostile_requests() {
  local kb
  if ! command -v protoc >/dev/null || ! /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
    echo "no hostile requests: protoc or python3-protobuf is not installed"
    return
  fi
  protoc -I "$TAPEDECK_ROOT/proto" -I /usr/share/grpc-proto --include_imports --descriptor_set_out="$WORK/descriptors.pb" \
    "$TAPEDECK_ROOT"/proto/tapedeck/v1/*.proto
  kb=$(awk '/^VmRSS/ {print $2}' "/proc/$STORAGE_PID/status")
  nice /usr/bin/python3 "$(dirname "$0")/console_hostile.py" "$1" "$CONSOLE_PORT" "$WORK/descriptors.pb" >"$WORK/hostile.txt" ||
    fail "hostile requests: $(tail -n 5 "$WORK/hostile.txt")"
  cat "$WORK/hostile.txt"
  ! grep -q refused "$WORK/hostile.txt" || fail "others were not answered"
  kb=$(($(awk '/^VmRSS/ {print $2}' "/proc/$STORAGE_PID/status") - kb))
  ((kb <= 131072)) || fail "the node has $kb KiB more"
  kill -0 "$STORAGE_PID" "$WORKER_PID" || fail "a node has ended"
}

# as NAME COMMAND...: with that one's certificate.
as() {
  TAPEDECK_TLS_CERT=$CA/$1.pem TAPEDECK_TLS_KEY=$CA/$1.key TAPEDECK_TLS_CA=$CA/ca.pem "${@:2}"
}

with_certificates() {
  local name answer
  CA=$WORK/ca
  authority "$CA"
  for name in storage worker; do certificate "$CA" $name "URI:spiffe://lab/$name,IP:127.0.0.1"; done
  for name in root guest; do certificate "$CA" $name "URI:spiffe://lab/$name"; done
  cat >"$WORK/policy.yaml" <<'END'
rules:
  - {identities: ["spiffe://lab/root"], role: admin, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/guest"], role: viewer, resources: ["luns/*"]}
  - {identities: ["spiffe://lab/worker", "spiffe://lab/storage"], role: worker, resources: ["luns/*"]}
END
  local tls=(--tls-ca "$CA/ca.pem" --policy "$WORK/policy.yaml")
  STORAGE_OPTIONS+=("${tls[@]}" --tls-cert "$CA/storage.pem" --tls-key "$CA/storage.key")
  WORKER_OPTIONS+=("${tls[@]}" --tls-cert "$CA/worker.pem" --tls-key "$CA/worker.key")
  start_storage || fail "the storage node does not start"
  start_worker
  CONSOLE=https://127.0.0.1:$CONSOLE_PORT
  local root=(--cacert "$CA/ca.pem" --cert "$CA/root.pem" --key "$CA/root.key")
  local guest=(--cacert "$CA/ca.pem" --cert "$CA/guest.pem" --key "$CA/guest.key")
  ! curl -sS --max-time 10 --cacert "$CA/ca.pem" "$CONSOLE/" >"$WORK/nobody.log" 2>&1 || fail "somebody without a certificate is answered"
  ! curl -sS --max-time 10 --tls-max 1.2 "${root[@]}" "$CONSOLE/" >"$WORK/tls12.log" 2>&1 || fail "TLS 1.2 is spoken"
  ! curl -sS --max-time 10 "http://127.0.0.1:$CONSOLE_PORT/" >"$WORK/plain.log" 2>&1 || fail "plain HTTP is answered"
  json_is "$(curl -sS "${guest[@]}" "$CONSOLE/api/console")" '.identity == "spiffe://lab/guest"' "who asks"
  json_is "$(call CatalogService/CreateLun '{"lun_id":"l1","lun":{"store":"memory","capacity_bytes":67108864}}' "${root[@]}")" '.name == "luns/l1"' \
    "a LUN of root's"
  json_is "$(call CatalogService/CreateChannel '{"parent":"luns/l1","channel_id":"c0","channel":{"block_bytes":1048576,"datatype":"cf32_le"}}' "${root[@]}")" '.name != ""' "a channel"
  answer=$(call CatalogService/DeleteLun '{"name":"luns/l1"}' "${guest[@]}" -w '%{http_code}')
  [[ $answer == *403 && $answer == *ACCESS_DENIED* && $answer == *spiffe://lab/guest* ]] || fail "a guest deletes: $answer"
  stream_says sessions "${guest[@]}"
  # A job that root asks the console for is root's at the worker and in the recording.
  json_is "$(call workers/w0/PipelineService/StartRecord \
    "{\"channel\":\"luns/l1/channels/c0\",\"storage\":\"$TAPEDECK_STORAGE\",\"source\":{\"name\":\"synth\"},\"blocks\":8}" "${root[@]}")" \
    '.name == "jobs/1"' "a job by the console"
  recorded() { as root tapectl_json recordings list | jq -e '.recordings[0] | .state == "SEALED" and .origin.worker == "spiffe://lab/root"'; }
  wait_for 15 recorded || fail "no recording of root's: $(as root tapectl_json recordings list)"
  answer=$(call workers/w0/PipelineService/StartRecord '{"channel":"luns/l1/channels/c0"}' "${guest[@]}" -w '%{http_code}')
  [[ $answer == *403 ]] || fail "a guest records: $answer"
}

begin_test
need curl
ALL='{"parent":"luns/-/channels/-"}'
CONSOLE_PORT=$(free_port)
WORKER_PORT=$(free_port)
plain
hostile_requests "$([[ -n ${TAPEDECK_LONG:-} ]] && echo 600 || echo 6)"
stop_service "$WORKER_PID"
stop_service "$STORAGE_PID"
with_certificates
