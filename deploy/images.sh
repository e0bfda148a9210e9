#!/usr/bin/env bash
# Builds images of the storage node, the worker and tapectl from the packages, without a Docker engine, and writes each as an OCI
# archive with its digest and its SBOM (SPDX JSON) into build-packages/images. The same tree gives the same digests.
#   deploy/images.sh [storage|worker|cli...]     those, or all
#   --memlock fileCap                            daemons that may lock memory by a file capability: see deploy/README.md
#   --cuda-base IMAGE                            CUDA's runtime, whose cuFFT the worker gets
#   --out DIR                                    instead of build-packages/images
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=deploy/base.sh
source "$TAPEDECK_ROOT/deploy/base.sh"
PACKAGES=$TAPEDECK_ROOT/build-packages/packages
OUT=$TAPEDECK_ROOT/build-packages/images
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$TAPEDECK_ROOT" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
NAMES=() MEMLOCK=nodeLimit CUDA_BASE=

parse() {
  while (($# > 0)); do
    case $1 in
      storage | worker | cli) NAMES+=("$1") ;;
      --memlock) MEMLOCK=${2:?} && shift ;;
      --cuda-base) CUDA_BASE=${2:?} && shift ;;
      --out) OUT=$(realpath -m "${2:?}") && shift ;;
      *)
        sed -n '2,/^set -e/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
    esac
    shift
  done
  ((${#NAMES[@]} > 0)) || NAMES=(storage worker cli)
}

built() { buildah --storage-driver vfs --root "$WORK/store" --runroot "$WORK/run" "$@"; }

# build IMAGE DOCKERFILE CONTEXT [OPTION...]
build() {
  local log
  log=$WORK/$(basename "$1").log
  built bud --isolation chroot --layers=false --timestamp "$SOURCE_DATE_EPOCH" "${@:4}" --tag "$1" --file "$2" "$3" >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    return 1
  }
}

# base: an image with all that the packages depend on, so that building asks no mirror.
base() {
  local tar
  tar=$(tapedeck_base_for "$PACKAGES")
  mkdir "$WORK/base"
  ln "$tar" "$WORK/base/base.tar" 2>/dev/null || cp "$tar" "$WORK/base/base.tar"
  printf 'FROM scratch\nADD base.tar /\n' >"$WORK/base/Dockerfile"
  build localhost/base "$WORK/base/Dockerfile" "$WORK/base"
}

image() {
  local name=$1 tag=localhost/tapedeck-$1:0.1.0 arguments=() container file=$OUT/tapedeck-$1.oci.tar
  mkdir "$WORK/context-$name"
  cp "$TAPEDECK_ROOT"/deploy/docker/{install,closure,healthy}.sh "$PACKAGES/tapedeck-${name}"_*.deb "$WORK/context-$name"
  arguments=(--build-arg "BASE=localhost/base" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH")
  [[ $name == cli ]] || arguments+=(--build-arg "TAPEDECK_MEMLOCK=$MEMLOCK")
  [[ $name != worker ]] || arguments+=(--build-arg "CUDA_BASE=${CUDA_BASE:-localhost/base}")
  build "$tag" "$TAPEDECK_ROOT/deploy/docker/$name.Dockerfile" "$WORK/context-$name" "${arguments[@]}"
  rm -f "$file"
  built push --quiet --digestfile "$OUT/tapedeck-$name.digest" "$tag" "oci-archive:$file:tapedeck-$name:0.1.0"
  container=$(built from "$tag")
  "$TAPEDECK_ROOT/deploy/docker/sbom.py" "$(built mount "$container")" "tapedeck-$name" 0.1.0 "$SOURCE_DATE_EPOCH" \
    >"$OUT/tapedeck-$name.spdx.json"
  echo "tapedeck-$name: $(($(du -sm --apparent-size "$(built mount "$container")" | cut -f1))) MiB, $(stat -c %s "$file") bytes packed, $(<"$OUT/tapedeck-$name.digest")"
  built rm --all >/dev/null
}

parse "$@"
why=$(why_no_base)
command -v buildah >/dev/null || why=${why:-buildah is not installed}
if [[ -n $why ]]; then
  echo "skipped: $why"
  exit 77
fi
[[ -n $(compgen -G "$PACKAGES/*.deb") ]] || "$TAPEDECK_ROOT/deploy/packages.sh"
mkdir -p "$OUT"
WORK=$(mktemp -d "$TAPEDECK_ROOT/build-packages/images.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
base
for name in "${NAMES[@]}"; do image "$name"; done
