#!/usr/bin/env bash
# How long tapectl takes to show a waterfall of a recording of 1 TiB (a sparse file of zeros in blocks of 1 MiB, with the
# index of a million blocks) and a thousandth of it, and how much of it the node reads for that.
#   tests/bench/view.sh [--directory DIR] [--rounds N] [--check]
# --check exits 1 over 2 s for the whole, 0.5 s for a part, or 64 MiB for either.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 CHECK=no DIRECTORY=
BLOCKS=$((1 << 20))

while [[ $# -gt 0 ]]; do
  case $1 in
    --directory) DIRECTORY=$2 && shift 2 ;;
    --rounds) ROUNDS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# One of two blocks becomes one of a million.
make_recording() {
  local recording
  mkdir "$DIRECTORY/member"
  head -c $((2 << 20)) /dev/zero >"$WORK/zeros"
  tapectl lun create l0 --store posix --member "$DIRECTORY/member"
  tapectl channel create l0/c0 --block-bytes 1MiB --sample-rate 1e9
  tapectl record l0/c0 --source "file:$WORK/zeros"
  stop_service "$STORAGE_PID"
  for recording in "$DIRECTORY"/member/c0/*/; do
    "$TAPEDECK_BIN/tapedeck-long-recording" "$recording" "$BLOCKS"
  done
  "$TAPEDECK_BIN/tapedeck-storage" --state "$WORK/state" --rebuild-catalog
  start_storage
}

# view NAME ARGUMENT...: {NAME_s, NAME_bytes}, of the program from its start to its end.
view() {
  local begin=$EPOCHREALTIME end
  tapectl_json view l0/c0/latest --columns 512 --rows 512 "${@:2}" >"$WORK/seen.json"
  end=$EPOCHREALTIME
  jq -c --arg name "$1" --argjson from "$begin" --argjson to "$end" \
    '{($name + "_s"): ($to - $from), ($name + "_bytes"): .bytes_read}' "$WORK/seen.json"
}

one_round() {
  local samples=$((BLOCKS << 17))
  { view waterfall && view zoom --from-sample $((samples / 3)) --to-sample $((samples / 3 + samples / 1000)); } | jq -cs add
}

main() {
  local all
  need jq
  begin_in_folder
  start_storage
  start_worker
  make_recording >"$WORK/made.log" 2>&1 || { tail -n 20 "$WORK/made.log" >&2 && exit 1; }
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "view", figures: ., $machine}' <<<"$all")" \
    'waterfall_s <= 2' 'zoom_s <= 0.5' 'waterfall_bytes <= 67108864' 'zoom_bytes <= 67108864'
}

main
