#!/usr/bin/env bash
# The examples of deploy/kubernetes, as they are, against two services: Python, buf and Go record over gRPC, the Job and the steps of Argo
# do what they say, and a call that is made again with its request_id gets the job of the first.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

EXAMPLES=$TAPEDECK_ROOT/deploy/kubernetes
PYTHON=/usr/bin/python3
BUF=$TAPEDECK_ROOT/proto/node_modules/@bufbuild/buf-linux-x64/bin/buf

jobs_of_worker() { tapectl_json jobs list | jq '.jobs | length'; }

# record_twice COMMAND...: which takes a request_id as its last argument.
record_twice() {
  local first second id before
  id=$(cat /proc/sys/kernel/random/uuid)
  before=$(jobs_of_worker)
  first=$("$@" "$id") || fail "$1 fails: $first"
  second=$("$@" "$id") || fail "$1 fails the second time: $second"
  json_is "$first" '.state == "JOB_STATE_SUCCEEDED" and (.blocks == "20" or .blocks == 20)' "$1"
  [[ $(jq -c '[.name, .recording]' <<<"$first") == "$(jq -c '[.name, .recording]' <<<"$second")" ]] || fail "asked twice: $first, then $second"
  (($(jobs_of_worker) == before + 1)) || fail "asked twice, it has recorded twice"
}

by_python() {
  "$EXAMPLES/record.py" --worker "$TAPEDECK_WORKER" --storage "$TAPEDECK_STORAGE" --channel luns/l0/channels/c0 --blocks 20 --request-id "$1"
}

by_buf() { BUF=$BUF "$EXAMPLES/record_buf.sh" "$TAPEDECK_WORKER" "$TAPEDECK_STORAGE" luns/l0/channels/c0 20 "$1"; }

by_go() {
  GO_BUILD=$WORK/go "$EXAMPLES/record_go.sh" --worker "$TAPEDECK_WORKER" --storage "$TAPEDECK_STORAGE" --channel luns/l0/channels/c0 \
    --blocks 20 --request-id "$1"
}

python_tells_why() {
  local answer
  ! answer=$("$EXAMPLES/record.py" --worker "$TAPEDECK_WORKER" --storage "$TAPEDECK_STORAGE" --channel luns/l0/channels/none --blocks 1 2>&1) ||
    fail "it records into nothing: $answer"
  grep -q CHANNEL_NOT_FOUND <<<"$answer" || fail "it does not say why: $answer"
}

# here: text of an example with the nodes of this test, and without certificates.
here() {
  sed -e "s/deck-tapedeck-worker\.radio\.svc\.cluster\.local:7500/$TAPEDECK_WORKER/; s/deck-tapedeck-storage-0[a-z.-]*:7400/$TAPEDECK_STORAGE/" \
    -e '/--tls-/d; /TAPEDECK_TLS_/d'
}

# As the kubelet runs a Job's container; its pod is tried again.
job_records_once() {
  local before command
  before=$(jobs_of_worker)
  here <"$EXAMPLES/job.yaml" | $PYTHON -c 'import json, sys, yaml
c = yaml.safe_load(sys.stdin)["spec"]["template"]["spec"]["containers"][0]; print(json.dumps(c["command"] + c["args"]))' >"$WORK/job.args"
  mapfile -t command < <(jq -r --arg id job-uid '.[] | sub("\\$\\(JOB_UID\\)"; $id) | sub("^/tapedeck"; env.TAPEDECK_ROOT)' "$WORK/job.args")
  "${command[@]}" >"$WORK/job.1" || fail "the Job fails"
  "${command[@]}" >"$WORK/job.2" || fail "the Job fails when it is tried again"
  cmp "$WORK/job.1" "$WORK/job.2" || fail "the Job tried again does something else"
  (($(jobs_of_worker) == before + 1)) || fail "the Job tried again records again"
}

# Each step of the workflow, in the order that it has, by the template's command.
argo_steps_run() {
  local step
  here <"$EXAMPLES/argo.yaml" | $PYTHON -c 'import sys, yaml
main, do = yaml.safe_load(sys.stdin)["spec"]["templates"]
for steps in main["steps"]:
    text = steps[0]["arguments"]["parameters"][0]["value"]
    print(do["container"]["args"][0].replace("{{inputs.parameters.do}}", text))' >"$WORK/steps"
  (($(wc -l <"$WORK/steps") == 3)) || fail "not three steps: $(cat "$WORK/steps")"
  while IFS= read -r step; do
    PATH=$TAPEDECK_BIN:$PATH sh -c "$step" </dev/null >"$WORK/step.txt" 2>&1 || fail "$step: $(cat "$WORK/step.txt")"
  done <"$WORK/steps"
}

# The networks and devices are those of the chart's values, and their JSON is JSON.
plumbing_fits() {
  $PYTHON - "$EXAMPLES" "$TAPEDECK_ROOT/helm/tapedeck/ci/shared-rdma-values.yaml" <<'PYTHON' || fail "networks, devices and the chart's values differ"
import json, sys, yaml
read = lambda name: list(yaml.safe_load_all(open(f"{sys.argv[1]}/{name}", encoding="utf-8")))
networks = {n["metadata"]["name"]: json.loads(n["spec"]["config"]) for n in read("networks.yaml")}
resources = {f"rdma/{c['resourceName']}": c["selectors"]["ifNames"] for c in json.loads(read("rdma-shared.yaml")[0]["data"]["config.json"])["configList"]}
sriov = read("sriov.yaml")
functions = {o["spec"]["resourceName"]: o for o in sriov if o["kind"] == "SriovNetworkNodePolicy"}
for o in sriov:
    assert o["kind"] == "SriovNetworkNodePolicy" or json.loads(o["spec"]["ipam"]) and o["spec"]["resourceName"] in functions, o
for rail in yaml.safe_load(open(sys.argv[2], encoding="utf-8"))["rails"]:
    network = networks[rail["network"]]
    assert network["mtu"] == 9000 and [network["master"]] == resources[rail["resource"]], rail
PYTHON
}

begin_test
export TAPEDECK_ROOT
need protoc
$PYTHON -c 'import grpc, google.protobuf, yaml' 2>/dev/null || skip "python3-grpcio, python3-protobuf or python3-yaml is not installed"
plumbing_fits
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 64KiB
record_twice by_python
python_tells_why
job_records_once
argo_steps_run
if [[ -x $BUF ]] || "$TAPEDECK_ROOT/deploy/ci/proto.sh" >"$WORK/buf.log" 2>&1; then
  record_twice by_buf
else
  echo "buf was not tried: $(tail -n 1 "$WORK/buf.log")"
fi
if command -v go >/dev/null && command -v protoc-gen-go >/dev/null && [[ -d /usr/share/gocode/src/google.golang.org/protobuf ]]; then
  record_twice by_go
else
  echo "Go was not tried (Debian: golang-go protoc-gen-go golang-google-protobuf-dev golang-google-grpc-dev)"
fi
