#!/usr/bin/env bash
# How fast the Python package reads a recording over a TCP rail, beside a worker's job that drops it; and from its file.
#   tests/bench/python.sh [--rounds N] [--blocks N] [--check]      --check exits 1 if a promise is missed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 BLOCKS=512 CHECK=no

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,3s/^# //p' "$0" && exit 2 ;;
  esac
done

# rate_of LUN WAY: of the package, in MB/s.
rate_of() { /usr/bin/python3 "$TAPEDECK_ROOT/tests/bench/python_rate.py" "$TAPEDECK_STORAGE" "$1/c/latest" "$2"; }

once() {
  local play samples fresh blocks file
  play=$(tapectl_json play memory/c/latest --sink null | jq .mb_per_s)
  samples=$(rate_of memory samples)
  fresh=$(rate_of memory fresh)
  blocks=$(rate_of memory blocks)
  file=$(rate_of posix file)
  jq -cn --argjson play "$play" --argjson samples "$samples" --argjson fresh "$fresh" --argjson blocks "$blocks" --argjson file "$file" \
    '{samples_to_play: ($samples / $play), fresh_to_play: ($fresh / $play), blocks_to_play: ($blocks / $play), samples_mb_per_s: $samples, fresh_mb_per_s: $fresh,
      blocks_mb_per_s: $blocks, play_mb_per_s: $play, file_mb_per_s: $file}'
}

need jq
need protoc
/usr/bin/python3 -c 'import grpc, numpy' 2>/dev/null || {
  echo "bench: python3-numpy or python3-grpcio is missing; deploy/setup.sh --tests installs it" >&2
  exit 1
}
export PYTHONPATH=$TAPEDECK_ROOT/services/python PYTHONDONTWRITEBYTECODE=1
services_begin
trap services_end EXIT
start_storage
start_worker
mkdir "$WORK/member"
tapectl --timeout 120s lun create memory --store memory --capacity "$((BLOCKS + 8))MiB" >/dev/null
tapectl lun create posix --store posix --member "$WORK/member" >/dev/null
for lun in memory posix; do
  tapectl channel create "$lun/c" --block-bytes 1MiB >/dev/null
  tapectl record "$lun/c" --source synth --blocks "$BLOCKS" >/dev/null
done
figures=$(rounds "$ROUNDS" once)
figure_table "a recording, read" "$figures"
conclude "$(jq -c --argjson machine "$(machine)" '{bench: "python", figures: del(.samples_to_play, .fresh_to_play, .blocks_to_play),
  ratios: {samples_to_play, fresh_to_play, blocks_to_play}, peers: {}, $machine}' <<<"$figures")" "samples_to_play >= 0.8"
