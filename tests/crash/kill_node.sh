#!/usr/bin/env bash
# kill -9 of the storage node at random points of a recording and of its own recovery, again and again: what was
# acknowledged, by a ledger that the node never sees, is there after each restart and verifies.
#   tests/crash/kill_node.sh posix|direct|device|ring|mirror [--cycles N] [--seed N]
#                                                N kills: 16 unless told, of a mirror 8, or 500 with TAPEDECK_LONG
# A channel with commit written and one with durable take turns.
# A failing run prints its seed. The kernel outlives the process: this proves the order of writes towards the kernel and
# the recovery, not what a power cut leaves (tests/sim).
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

KIND=${1:-} CYCLES=${TAPEDECK_LONG:+500} SEED=$RANDOM
[[ $KIND != mirror ]] || CYCLES=${CYCLES:-8}
CYCLES=${CYCLES:-16}
[[ $KIND =~ ^(posix|direct|device|ring|mirror)$ ]] || { sed -n '2,8s/^# //p' "$0" && exit 2; }
shift
while [[ $# -gt 0 ]]; do
  case $1 in
    --cycles) CYCLES=$2 && shift 2 ;;
    --seed) SEED=$2 && shift 2 ;;
    *) sed -n '2,8s/^# //p' "$0" && exit 2 ;;
  esac
done
RANDOM=$SEED
CHANNELS=("$KIND"-{written,durable}/c0)
CHECKED=0 WORST_MS=0 RECOVERIES=0

# pause MILLISECONDS
pause() { sleep "$(printf '0.%03d' "$1")"; }

# kill_while_recording CHANNEL: leaves RECORDING and ACKNOWLEDGED, what the worker was told before the node died.
kill_while_recording() {
  local before
  before=$(newest_recording)
  tapectl_json record "$1" --source synth --duration 60s --resume-for 0s >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 20 has_newer_recording "$before" || fail "seed $SEED: no recording began: $(cat "$WORK/job.json")"
  pause $((RANDOM % 250))
  kill_service "$STORAGE_PID"
  end_job
  RECORDING=$(jq -r '.recording // empty' "$WORK/job.json")
  ACKNOWLEDGED=$(job '.blocks // 0')
  echo "$1 $RECORDING $ACKNOWLEDGED" >>"$WORK/ledger"
}

has_newer_recording() { [[ $(newest_recording) != "$1" ]]; }

# restart: every fourth time the node is killed once more while it starts.
restart() {
  local began
  if ((RANDOM % 4 == 0)); then
    "$TAPEDECK_BIN/tapedeck-storage" --listen "$TAPEDECK_STORAGE" --state "$WORK/state" "${STORAGE_RAILS[@]}" \
      2>>"$WORK/storage.log" &
    pause $((RANDOM % 60))
    kill -KILL $!
    wait $! 2>/dev/null || true
    RECOVERIES=$((RECOVERIES + 1))
  fi
  began=$(milliseconds)
  start_storage
  began=$(($(milliseconds) - began))
  WORST_MS=$((began > WORST_MS ? began : WORST_MS))
}

# The segments of this cycle's stream that the ring still has, in order, as one array in SEGMENTS.
segments() {
  SEGMENTS=$(tapectl_json recordings list --segments "${1#luns/}" | jq -c --arg stream "${RECORDING##*/}" \
    '[.recordings[] | select(.stream == $stream)] | map(.first = .segment * 16) | sort_by(.first)')
}

all_are_closed() {
  segments "$1"
  jq -e 'length > 0 and all(.state == "SEALED" or .state == "SALVAGED")' <<<"$SEGMENTS"
}

# check_ring CHANNEL: a ring of 512 blocks, 16 to a segment, has the end of what was acknowledged, without a gap.
check_ring() {
  local first name reports
  wait_for 10 all_are_closed "$1" || fail "seed $SEED: $1 is not closed: $SEGMENTS"
  json_is "$SEGMENTS" ".[-1].first + .[-1].blocks >= $ACKNOWLEDGED" "seed $SEED: the end of $1"
  json_is "$SEGMENTS" '.[-1].first - .[0].first == 16 * (length - 1) and (.[0].first == 0 or length >= 24)' \
    "seed $SEED: $1 has a gap, or too little"
  reports=$(jq -r '.[] | "\(.first) \(.name)"' <<<"$SEGMENTS" | while read -r first name; do
    echo "{\"first\": $first, \"name\": \"$name\"}"
    tapectl_json recordings verify "$name" --segment $((first / 16)) || true
  done)
  # Of each a line that names it, then what verifying it says.
  reports=$(jq -cs 'reduce .[] as $line ([]; if $line.first != null then . + [$line]
    else .[-1].blocks = ($line.blocks // .[-1].blocks) | .[-1].damaged += ($line.damaged // []) end)' <<<"$reports")
  json_is "$reports" "map(. as \$segment | .damaged[]? | select(\$segment.first + .sequence < $ACKNOWLEDGED or
    .kind != \"missing\")) == []" "seed $SEED: $ACKNOWLEDGED blocks of $1 were acknowledged"
  # The ring may let its oldest go meanwhile.
  segments "$1"
  reports=$(jq -c --argjson now "$SEGMENTS" \
    'map(. as $report | select($report.blocks != null or ($now | any(.name == $report.name))))' <<<"$reports")
  json_is "$reports" 'all(.blocks != null)' "seed $SEED: segments of $1 that could not be verified"
  CHECKED=$((CHECKED + $(jq 'map(.blocks) | add' <<<"$reports")))
}

# check_ledger CHANNEL: the recording of this cycle, block by block; sometimes played too.
check_ledger() {
  local report
  ((ACKNOWLEDGED > 0)) || return 0
  if [[ $1 == ring-* ]]; then
    check_ring "$1"
    return
  fi
  wait_for 10 is_closed "$RECORDING" || fail "seed $SEED: $RECORDING is not closed"
  json_is "$(tapectl_json recordings show "$RECORDING")" ".blocks >= $ACKNOWLEDGED" "seed $SEED: $RECORDING"
  report=$(tapectl_json recordings verify "$RECORDING" || true)
  json_is "$report" "[.damaged[]? | select(.sequence < $ACKNOWLEDGED or .kind != \"missing\")] == []" \
    "seed $SEED: $ACKNOWLEDGED blocks of $RECORDING were acknowledged"
  ((RANDOM % 8)) || json_is "$(tapectl_json play "$RECORDING" --sink verify)" '.crc_errors == 0' "seed $SEED: $RECORDING"
  CHECKED=$((CHECKED + ACKNOWLEDGED))
}

# make_lun NAME COMMIT
make_lun() {
  if [[ $KIND == mirror ]]; then
    mkdir "$WORK/member-$1"-{0,1}
    tapectl lun create "$1" --store direct --member "$WORK/member-$1-0" --member "$WORK/member-$1-1" --copies 2 >/dev/null
    tapectl channel create "$1/c0" --block-bytes 256KiB --commit "$2" >/dev/null
    return
  fi
  if [[ $KIND != ring ]]; then
    CAPACITY=64GiB lun_with_channel "$KIND" "$1/c0" cf32_le 256KiB --commit "$2"
    return
  fi
  mkdir "$WORK/member-$1"
  tapectl lun create "$1" --store direct --member "$WORK/member-$1" --capacity 128MiB --full-policy ring >/dev/null
  tapectl channel create "$1/c0" --block-bytes 256KiB --commit "$2" >/dev/null
}

begin_test
start_storage
start_worker
make_lun "$KIND-written" written
make_lun "$KIND-durable" durable
echo "seed $SEED"
for ((cycle = 0; cycle < CYCLES; cycle++)); do
  channel=${CHANNELS[cycle % 2]}
  kill_while_recording "$channel"
  restart
  check_ledger "$channel"
  # Every recording lives through some restarts. A ring makes room itself.
  [[ $KIND == ring ]] || ((cycle < 8)) ||
    tapectl recordings delete "$(tapectl_json recordings list | jq -r '.recordings[-1].name')" >/dev/null
done
[[ $KIND != mirror ]] || json_is "$(tapectl_json lun list)" '[.luns[].state] == ["READY", "READY"]' "both copies are whole"
echo "$CYCLES kills while recording, $RECOVERIES while recovering: $CHECKED acknowledged blocks, 0 lost;" \
  "the longest restart took $WORST_MS ms"
