#!/usr/bin/env bash
# deploy/ci/images.sh: builds all images twice and compares the digests; then runs the storage node and the worker as containers, by
# crun, as users without a capability, on read-only roots, with certificates, joined by two TCP rails between two network
# namespaces: records a gigabyte, runs what `helm test` runs, and drains. With the file capability the storage node has IPC_LOCK,
# and no other. Minutes, so deploy/test.sh --all runs it.
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
# shellcheck source=deploy/base.sh
source "$TAPEDECK_ROOT/deploy/base.sh"
IMAGES=$TAPEDECK_ROOT/build-packages/images
COMPOSE=$TAPEDECK_ROOT/deploy/docker/compose.yaml
AUTHORITY=$TAPEDECK_ROOT/tests/e2e/authority.sh
declare -A MAX_MIB=([storage]=80 [worker]=60 [cli]=60)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# unpack ARCHIVE DIR: the only layer of an image.
unpack() {
  local manifest layer
  mkdir -p "$2/oci" "$2/root"
  tar -C "$2/oci" -xf "$1"
  manifest=$2/oci/blobs/$(jq -r '.manifests[0].digest | sub(":"; "/")' "$2/oci/index.json")
  layer=$(jq -r 'if (.layers | length) == 1 then .layers[0].digest | sub(":"; "/") else error("several layers") end' "$manifest")
  tar -C "$2/root" --xattrs --xattrs-include='security.*' -xpzf "$2/oci/blobs/$layer"
  cp "$2/oci/blobs/$(jq -r '.config.digest | sub(":"; "/")' "$manifest")" "$2/image.json"
}

# container NAME NETWORK CAPABILITIES ARGUMENT...: the user and the program are those of the image, unless PROGRAM is a JSON list
# that stands for it; the limits those of this script: some machines let nobody raise them. WORK/with/NAME is mounted as /with.
container() {
  local name=$1 network=$2 capabilities=$3 at=$WORK/$1
  shift 3
  (cd "$at" && rm -f config.json && crun spec)
  jq --slurpfile image "$at/image.json" --arg network "/run/netns/$network" --arg data "$at/data" --arg with "$WORK/with/$name" \
    --argjson capabilities "$capabilities" --argjson program "${PROGRAM:-null}" \
    --argjson arguments "$(printf '%s\n' "$@" | jq -R . | jq -s .)" '
    ($image[0].config.User | split(":") | map(tonumber)) as [$uid, $gid] | .root = {path: "root", readonly: true}
    | .process += {terminal: false, user: {uid: $uid, gid: $gid}, args: (($program // $image[0].config.Entrypoint) + $arguments),
        cwd: ($image[0].config.WorkingDir // "/"), noNewPrivileges: ($capabilities == []),
        env: ($image[0].config.Env + ["TAPEDECK_STORAGE=10.77.0.2:7400", "TAPEDECK_WORKER=10.77.0.3:7500", "TEST_MEBIBYTES=64"]
          + ["CERT=/with/node.pem", "KEY=/with/node.key", "CA=/with/ca.pem" | "TAPEDECK_TLS_" + .]),
        capabilities: {bounding: $capabilities, effective: [], permitted: [], inheritable: [], ambient: []},
        rlimits: []}
    | .linux.namespaces |= map(if .type == "network" then .path = $network else . end)
    | .mounts |= map(select(.type != "cgroup"))
    | .mounts += [{destination: "/with", type: "bind", source: $with, options: ["rbind", "ro"]}]
    | if ($image[0].config.Volumes // {}) == {} then . else
        .mounts += [{destination: ($image[0].config.Volumes | keys[0]), type: "bind", source: $data, options: ["rbind", "rw"]}] end
  ' "$at/config.json" >"$at/config"
  mv "$at/config" "$at/config.json"
  crun --cgroup-manager=disabled run --bundle "$at" "$name"
}

healthy() {
  local port=9400
  [[ $1 != worker ]] || port=9500
  crun --cgroup-manager=disabled exec "$1" /usr/bin/tapedeck-healthy "$port" 2>/dev/null
}

# daemon NAME NETWORK CAPABILITIES ARGUMENT...: until its health check passes; its log is NAME.log.
daemon() {
  local name=$1
  install -d -o "$(id_of "$name")" -m 0750 "$WORK/$name/data"
  container "$@" >>"$WORK/$name.log" 2>&1 &
  for _ in {1..200}; do
    if healthy "$name"; then return; fi
    sleep 0.1
  done
  fail "$name is not healthy: $(tail -n 10 "$WORK/$name.log")"
}

# certificates: of each container, whose user alone reads its key.
certificates() {
  local tls=$WORK/tls name with
  local -A names=(
    [storage]="URI:spiffe://lab/storage,IP:10.77.0.2" [worker]="URI:spiffe://lab/worker/w0,IP:10.77.0.3" [cli]=URI:spiffe://lab/root)
  "$AUTHORITY" authority "$tls"
  for name in storage worker cli; do
    with=$WORK/with/$name
    "$AUTHORITY" certificate "$tls" "$name" "${names[$name]}"
    install -d "$with"
    install -m 0644 "$tls/ca.pem" "$with"
    install -m 0644 "$tls/$name.pem" "$with/node.pem"
    install -m 0400 -o "$(id_of "$name")" "$tls/$name.key" "$with/node.key"
  done
  install -m 0755 "$TAPEDECK_ROOT/helm/tapedeck/files/record_and_play.sh" "$WORK/with/cli"
}

id_of() { jq -r '.config.User | split(":")[0]' "$WORK/$1/image.json"; }

pid_of() { crun --cgroup-manager=disabled state "$1" | jq .pid; }

# has NAME CAPEFF: the effective capabilities of a container's program, its user, and that its root takes no file.
has() {
  local status
  status=/proc/$(pid_of "$1")/status
  [[ $(awk '/^CapEff:/ {print $2}' "$status") == "$2" ]] || fail "$1: $(grep Cap "$status")"
  [[ $(awk '/^Uid:/ {print $2}' "$status") == "$(id_of "$1")" && $(id_of "$1") != 0 ]] || fail "$1: $(grep Uid "$status")"
  ! crun --cgroup-manager=disabled exec "$1" /usr/bin/touch /usr/bin/x 2>/dev/null || fail "$1: its root can be written"
}

# networks: the storage node's and the worker's, with the addresses of the compose file.
networks() {
  local rail
  ip netns add a
  ip netns add b
  for rail in 0 1; do
    ip link add "a$rail" netns a type veth peer name "b$rail" netns b
    ip -n a address add "10.77.$rail.2/24" dev "a$rail"
    ip -n b address add "10.77.$rail.3/24" dev "b$rail"
    ip -n a link set "a$rail" up
    ip -n b link set "b$rail" up
  done
  ip -n a link set lo up
  ip -n b link set lo up
}

STORAGE=(--listen 0.0.0.0:7400 --admin 127.0.0.1:9400 --state /var/lib/tapedeck/storage --rail r0=tcp:10.77.0.2 --rail r1=tcp:10.77.1.2)
WORKER=(--listen 0.0.0.0:7500 --admin 127.0.0.1:9500 --device auto --rail r0=tcp:10.77.0.3 --rail r1=tcp:10.77.1.3)
TLS=(--tls-cert /with/node.pem --tls-key /with/node.key --tls-ca /with/ca.pem)

tapectl() { container cli a '[]' "$@"; }

# without_certificate ARGUMENT...: of tapectl.
without_certificate() {
  PROGRAM='["env", "-i", "tapectl"]' tapectl --storage 10.77.0.2:7400 --worker 10.77.0.3:7500 --timeout 5s --output json "$@"
}

start_both() {
  daemon storage a '[]' "${STORAGE[@]}" "${TLS[@]}"
  daemon worker b '[]' "${WORKER[@]}" "${TLS[@]}"
  has storage 0000000000000000
  has worker 0000000000000000
}

refuses_strangers() {
  local answer
  answer=$(without_certificate lun list 2>&1) && fail "whoever has no certificate is let in: $answer"
  [[ $answer == *NODE_UNREACHABLE* ]] || fail "not why: $answer"
}

record_a_gigabyte() {
  local answer
  install -d -o "$(id_of storage)" "$WORK/storage/data/l0"
  tapectl lun create l0 --store posix --member /var/lib/tapedeck/storage/l0 --capacity 2GiB
  tapectl channel create l0/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9
  answer=$(tapectl --output json record l0/c0 --source synth --fft 1024 --blocks 1000 | tail -n 1)
  jq -e '.blocks == 1000 and .lost_blocks == 0 and ([.rails[] | select(.blocks > 0)] | length) == 2' <<<"$answer" >/dev/null ||
    fail "recording: $answer"
  echo "recorded 1000 MiB over two rails: $(jq '.mb_per_s | round' <<<"$answer") MB/s"
  answer=$(tapectl --output json play l0/c0/latest --sink verify | tail -n 1)
  jq -e '.blocks == 1000 and .lost_blocks == 0 and .crc_errors == 0' <<<"$answer" >/dev/null || fail "playing: $answer"
}

# As the pod of `helm test` does, with the image and the certificate of tapectl.
run_helm_test() {
  PROGRAM='["sh", "/with/record_and_play.sh"]' container cli a '[]' --timeout 60s >"$WORK/helm_test.log" 2>&1 ||
    fail "what helm test runs: $(tail -n 20 "$WORK/helm_test.log")"
  grep '^== passed' "$WORK/helm_test.log"
}

records() { tapectl --output json recordings list | jq -e '.recordings | any(.state == "RECORDING" and .blocks > 0)' >/dev/null; }

# A probe over plain HTTP hears of a drain before the node ends, and its successor has what was acknowledged.
drain() {
  local pid job blocks
  install -d "$WORK/recorder"
  cp -a "$WORK"/cli/{root,image.json} "$WORK/recorder"
  cp -a "$WORK/with/cli" "$WORK/with/recorder"
  container recorder a '[]' --output json record l0/c0 --source synth --duration 60s --resume-for 0s \
    >"$WORK/job.json" 2>"$WORK/job.log" &
  job=$!
  for _ in {1..100}; do if records; then break; fi; done
  pid=$(pid_of storage)
  kill -TERM "$pid"
  while healthy storage; do :; done
  [[ -e /proc/$pid ]] || fail "it ended before a probe heard that it would"
  wait "$job" && fail "a recording without its node goes on: $(<"$WORK/job.json")"
  blocks=$(tail -n 1 "$WORK/job.json" | jq '.blocks // 0')
  while [[ -e /proc/$pid ]]; do sleep 0.1; done
  daemon storage a '[]' "${STORAGE[@]}" "${TLS[@]}"
  tapectl --output json recordings show l0/c0/latest |
    jq -e --argjson blocks "$blocks" '(.state == "SEALED" or .state == "SALVAGED") and .blocks > 0 and .blocks >= $blocks' >/dev/null ||
    fail "$blocks blocks were acknowledged; $(tapectl recordings show l0/c0/latest)"
  tapectl recordings verify l0/c0/latest
  kill -TERM "$(pid_of storage)" "$(pid_of worker)"
  wait
}

# compose_command SERVICE: its arguments in the compose file.
compose_command() {
  /usr/bin/python3 -c 'import sys, yaml
print(*yaml.safe_load(open(sys.argv[1]))["services"][sys.argv[2]]["command"], sep="\n")' "$COMPOSE" "$1"
}

# Both as the compose file starts them, the storage node by its file capability.
as_compose_says() {
  local arguments answer
  mv "$WORK/fileCap-storage" "$WORK/storage"
  mapfile -t arguments < <(compose_command storage)
  daemon storage a '["CAP_IPC_LOCK"]' "${arguments[@]}"
  has storage 0000000000004000
  mapfile -t arguments < <(compose_command worker)
  daemon worker b '[]' "${arguments[@]}"
  answer=$(without_certificate nodes)
  [[ $answer == *10.77.1.2* && $answer == *10.77.1.3* ]] || fail "the compose file's nodes: $answer"
  echo "as the compose file starts them, with IPC_LOCK by the file's capability: both are ready"
  kill -TERM "$(pid_of storage)" "$(pid_of worker)"
  wait
}

if [[ ${1:-} == --in ]]; then
  WORK=$2
  # crun 1.8 refuses some machines' control groups; none are needed here.
  umount -R -l /sys/fs/cgroup
  mount -t tmpfs tmpfs /sys/fs/cgroup
  mount -t tmpfs tmpfs /run
  certificates
  networks
  start_both
  refuses_strangers
  record_a_gigabyte
  run_helm_test
  drain
  rm -rf "$WORK/storage"
  as_compose_says
  exit 0
fi
why=$(why_no_base)
for command in buildah crun jq openssl; do command -v "$command" >/dev/null || why=${why:-$command is not installed}; done
if [[ -n $why ]]; then
  echo "skipped: $why"
  exit 77
fi
SOURCE_DATE_EPOCH=$(git -C "$TAPEDECK_ROOT" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
if command -v docker-compose >/dev/null; then
  docker-compose -f "$COMPOSE" config --quiet || fail "the compose file"
fi
"$TAPEDECK_ROOT/deploy/packages.sh"
WORK=$(mktemp -d "$TAPEDECK_ROOT/build-packages/containers.XXXXXX")
trap 'rm -rf --one-file-system "$WORK"' EXIT
"$TAPEDECK_ROOT/deploy/images.sh"
"$TAPEDECK_ROOT/deploy/images.sh" --out "$WORK/again"
for name in storage worker cli; do
  cmp "$IMAGES/tapedeck-$name.digest" "$WORK/again/tapedeck-$name.digest" || fail "$name differs when it is built again"
  cmp "$IMAGES/tapedeck-$name.spdx.json" "$WORK/again/tapedeck-$name.spdx.json" || fail "the SBOM of $name differs"
  unpack "$IMAGES/tapedeck-$name.oci.tar" "$WORK/$name"
  size=$(du -sm --apparent-size "$WORK/$name/root" | cut -f1)
  ((size <= MAX_MIB[$name])) || fail "the image of $name has $size MiB: $(du -am "$WORK/$name/root" | sort -rn | head -n 20)"
done
"$TAPEDECK_ROOT/deploy/images.sh" --memlock fileCap --out "$WORK/fileCap-images" storage worker
for name in storage worker; do
  unpack "$WORK/fileCap-images/tapedeck-$name.oci.tar" "$WORK/fileCap-$name"
  getcap "$WORK/fileCap-$name/root/usr/bin/tapedeck-$name" | grep -q "cap_ipc_lock=ep" || fail "the layer of $name has lost the capability"
done
unshare --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" --in "$WORK"
