#!/usr/bin/env bash
# deploy/ci/images.sh: builds all images twice and compares the digests; then runs the storage node and the worker as containers, by
# crun, as users without a capability, on read-only roots, joined by two TCP rails between two network namespaces, and records a
# gigabyte. With the file capability the storage node has IPC_LOCK, and no other. Minutes, so deploy/test.sh --all runs it.
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
# shellcheck source=deploy/base.sh
source "$TAPEDECK_ROOT/deploy/base.sh"
IMAGES=$TAPEDECK_ROOT/build-packages/images
MAX_STORAGE_MIB=120

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

# container NAME NETWORK CAPABILITIES ARGUMENT...: its log is NAME.log. The user and the program are those of the image, the
# limits those of this script: some machines let nobody raise them.
container() {
  local name=$1 network=$2 capabilities=$3 at=$WORK/$1
  shift 3
  (cd "$at" && rm -f config.json && crun spec)
  jq --slurpfile image "$at/image.json" --arg network "/run/netns/$network" --arg data "$at/data" --argjson capabilities "$capabilities" \
    --argjson arguments "$(printf '%s\n' "$@" | jq -R . | jq -s .)" '
    ($image[0].config.User | split(":") | map(tonumber)) as [$uid, $gid] | .root = {path: "root", readonly: true}
    | .process += {terminal: false, user: {uid: $uid, gid: $gid}, args: ($image[0].config.Entrypoint + $arguments),
        cwd: ($image[0].config.WorkingDir // "/"), noNewPrivileges: ($capabilities == []),
        env: ($image[0].config.Env + ["TAPEDECK_STORAGE=10.77.0.1:7400", "TAPEDECK_WORKER=10.77.0.2:7500"]),
        capabilities: {bounding: $capabilities, effective: [], permitted: [], inheritable: [], ambient: []},
        rlimits: []}
    | .linux.namespaces |= map(if .type == "network" then .path = $network else . end)
    | .mounts |= map(select(.type != "cgroup"))
    | if ($image[0].config.Volumes // {}) == {} then . else
        .mounts += [{destination: ($image[0].config.Volumes | keys[0]), type: "bind", source: $data, options: ["rbind", "rw"]}] end
  ' "$at/config.json" >"$at/config"
  mv "$at/config" "$at/config.json"
  crun --cgroup-manager=disabled run --bundle "$at" "$name"
}

# daemon NAME NETWORK CAPABILITIES ARGUMENT...: until its health check passes.
daemon() {
  local name=$1 port=9400
  [[ $name != worker ]] || port=9500
  install -d -o "$(id_of "$name")" -m 0750 "$WORK/$name/data"
  container "$@" >"$WORK/$name.log" 2>&1 &
  for _ in {1..200}; do
    if crun --cgroup-manager=disabled exec "$name" /usr/bin/tapedeck-healthy "$port" 2>/dev/null; then return; fi
    sleep 0.1
  done
  fail "$name is not healthy: $(tail -n 10 "$WORK/$name.log")"
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

networks() {
  local rail
  ip netns add a
  ip netns add b
  for rail in 0 1; do
    ip link add "a$rail" netns a type veth peer name "b$rail" netns b
    ip -n a address add "10.77.$rail.1/24" dev "a$rail"
    ip -n b address add "10.77.$rail.2/24" dev "b$rail"
    ip -n a link set "a$rail" up
    ip -n b link set "b$rail" up
  done
  ip -n a link set lo up
  ip -n b link set lo up
}

storage_options() {
  printf '%s\n' --listen 0.0.0.0:7400 --admin 127.0.0.1:9400 --state /var/lib/tapedeck/storage --rail r0=tcp:10.77.0.1 --rail r1=tcp:10.77.1.1
}

tapectl() { container cli a '[]' "$@"; }

record_a_gigabyte() {
  local answer
  networks
  mapfile -t options < <(storage_options)
  daemon storage a '[]' "${options[@]}"
  daemon worker b '[]' --listen 0.0.0.0:7500 --admin 127.0.0.1:9500 --device auto --rail r0=tcp:10.77.0.2 --rail r1=tcp:10.77.1.2
  has storage 0000000000000000
  has worker 0000000000000000
  install -d -o "$(id_of storage)" "$WORK/storage/data/l0"
  tapectl lun create l0 --store posix --member /var/lib/tapedeck/storage/l0 --capacity 2GiB
  tapectl channel create l0/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9
  answer=$(tapectl --output json record l0/c0 --source synth --fft 1024 --blocks 1000 | tail -n 1)
  jq -e '.blocks == 1000 and .lost_blocks == 0 and ([.rails[] | select(.blocks > 0)] | length) == 2' <<<"$answer" >/dev/null ||
    fail "recording: $answer"
  echo "recorded 1000 MiB over two rails: $(jq '.mb_per_s | round' <<<"$answer") MB/s"
  answer=$(tapectl --output json play l0/c0/latest --sink verify | tail -n 1)
  jq -e '.blocks == 1000 and .lost_blocks == 0 and .crc_errors == 0' <<<"$answer" >/dev/null || fail "playing: $answer"
  kill -TERM "$(pid_of storage)" "$(pid_of worker)"
  wait
}

with_file_capability() {
  mapfile -t options < <(storage_options)
  mv "$WORK/fileCap" "$WORK/storage"
  daemon storage a '["CAP_IPC_LOCK"]' "${options[@]}"
  has storage 0000000000004000
  kill -TERM "$(pid_of storage)"
  wait
}

if [[ ${1:-} == --in ]]; then
  WORK=$2
  # crun 1.8 refuses some machines' control groups; none are needed here.
  umount -R -l /sys/fs/cgroup
  mount -t tmpfs tmpfs /sys/fs/cgroup
  mount -t tmpfs tmpfs /run
  record_a_gigabyte
  rm -rf "$WORK/storage"
  with_file_capability
  exit 0
fi
why=$(why_no_base)
for command in buildah crun jq; do command -v "$command" >/dev/null || why=${why:-$command is not installed}; done
if [[ -n $why ]]; then
  echo "skipped: $why"
  exit 77
fi
SOURCE_DATE_EPOCH=$(git -C "$TAPEDECK_ROOT" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
"$TAPEDECK_ROOT/deploy/packages.sh"
WORK=$(mktemp -d "$TAPEDECK_ROOT/build-packages/containers.XXXXXX")
trap 'rm -rf --one-file-system "$WORK"' EXIT
"$TAPEDECK_ROOT/deploy/images.sh"
"$TAPEDECK_ROOT/deploy/images.sh" --out "$WORK/again"
for name in storage worker cli; do
  cmp "$IMAGES/tapedeck-$name.digest" "$WORK/again/tapedeck-$name.digest" || fail "$name differs when it is built again"
  cmp "$IMAGES/tapedeck-$name.spdx.json" "$WORK/again/tapedeck-$name.spdx.json" || fail "the SBOM of $name differs"
  unpack "$IMAGES/tapedeck-$name.oci.tar" "$WORK/$name"
done
size=$(du -sm --apparent-size "$WORK/storage/root" | cut -f1)
((size <= MAX_STORAGE_MIB)) || fail "the storage node's image has $size MiB: $(du -am "$WORK/storage/root" | sort -rn | head -n 20)"
"$TAPEDECK_ROOT/deploy/images.sh" --memlock fileCap --out "$WORK/fileCap-images" storage
unpack "$WORK/fileCap-images/tapedeck-storage.oci.tar" "$WORK/fileCap"
getcap "$WORK/fileCap/root/usr/bin/tapedeck-storage" | grep -q "cap_ipc_lock=ep" || fail "the layer has lost the capability"
unshare --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" --in "$WORK"
