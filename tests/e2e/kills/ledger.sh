# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: a node is killed at random points of a recording and of its own recovery. What was acknowledged, by a ledger
# that the node never sees, is there after each restart and verifies. A channel with commit written and one with durable take turns.
# The kernel outlives the process: this proves the order of writes towards the kernel and the recovery, not what a power cut
# leaves (tests/sim).
CHECKED=0 WORST_MS=0 RECOVERIES=0

# pause MILLISECONDS
pause() { sleep "$(printf '0.%03d' "$1")"; }

# ledger_site posix|direct|device|ring|mirror
ledger_site() {
  KIND=$1 LEDGER_CHANNELS=("$1"-{written,durable}/c0)
  start_nodes 1
  start_worker
  ledger_lun "$KIND-written" written
  ledger_lun "$KIND-durable" durable
}

# ledger_lun NAME COMMIT
ledger_lun() {
  if [[ $KIND == mirror ]]; then
    mkdir "$WORK/member-$1"-{0,1}
    tapectl lun create "$1" --store direct --member "$WORK/member-$1-0" --member "$WORK/member-$1-1" --copies 2 >/dev/null
    tapectl channel create "$1/c0" --block-bytes 64KiB --commit "$2" >/dev/null
    return
  fi
  if [[ $KIND != ring ]]; then
    CAPACITY=64GiB lun_with_channel "$KIND" "$1/c0" cf32_le 64KiB --commit "$2"
    return
  fi
  mkdir "$WORK/member-$1"
  tapectl lun create "$1" --store direct --member "$WORK/member-$1" --capacity 32MiB --full-policy ring >/dev/null
  tapectl channel create "$1/c0" --block-bytes 64KiB --commit "$2" >/dev/null
}

has_newer_recording() { [[ $(newest_recording) != "$1" ]]; }

# ledger_records: into the channel whose turn it is, until some time after it began.
ledger_records() {
  local before
  CHANNEL=${LEDGER_CHANNELS[ROUND % 2]}
  before=$(newest_recording)
  tapectl_json record "$CHANNEL" --source synth --slots 64 --duration 60s --resume-for 0s >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 20 has_newer_recording "$before" || fail "no recording began: $(cat "$WORK/job.json")"
  pause $((RANDOM % 250))
}

# ledger_notes: RECORDING, and ACKNOWLEDGED, what the worker was told before the node died.
ledger_notes() {
  end_job
  RECORDING=$(jq -r '.recording // empty' "$WORK/job.json")
  ACKNOWLEDGED=$(job '.blocks // 0')
  echo "$CHANNEL $RECORDING $ACKNOWLEDGED" >>"$WORK/ledger"
}

# ledger_restarts: every fourth time the node is killed once more while it starts.
ledger_restarts() {
  local began
  if ((RANDOM % 4 == 0)); then
    "$TAPEDECK_BIN/tapedeck-storage" --listen "${ADDRESSES[0]}" --state "$WORK/state0" "${STORAGE_RAILS[@]}" 2>>"$WORK/storage0.log" &
    pause $((RANDOM % 60))
    kill_process $!
    RECOVERIES=$((RECOVERIES + 1))
  fi
  began=$(milliseconds)
  start_node 0
  began=$(($(milliseconds) - began))
  WORST_MS=$((began > WORST_MS ? began : WORST_MS))
}

# The segments of this round's stream that the ring still has, in order, as one array in SEGMENTS.
segments() {
  SEGMENTS=$(tapectl_json recordings list --segments "$CHANNEL" | jq -c --arg stream "${RECORDING##*/}" \
    '[.recordings[] | select(.stream == $stream)] | map(.first = .segment * 16) | sort_by(.first)')
}

all_are_closed() {
  segments
  jq -e 'length > 0 and all(.state == "SEALED" or .state == "SALVAGED")' <<<"$SEGMENTS"
}

# check_ring: a ring of 512 blocks, 16 to a segment, has the end of what was acknowledged, without a gap.
check_ring() {
  wait_for 10 all_are_closed || fail "$CHANNEL is not closed: $SEGMENTS"
  json_is "$SEGMENTS" ".[-1].first + .[-1].blocks >= $ACKNOWLEDGED" "the end of $CHANNEL"
  json_is "$SEGMENTS" '.[-1].first - .[0].first == 16 * (length - 1) and (.[0].first == 0 or length >= 24)' \
    "$CHANNEL has a gap, or too little"
  wait_for 10 stream_is_verified || fail "$RECORDING could not be verified: $REPORT"
  json_is "{\"listed\": $SEGMENTS, \"report\": $REPORT}" "(.listed | INDEX(.name)) as \$listed | [.report.damaged[] |
    select(\$listed[.recording].first + .sequence < $ACKNOWLEDGED or .kind != \"missing\")] == []" "$ACKNOWLEDGED blocks of $CHANNEL were acknowledged"
  # The ring may let its oldest go meanwhile.
  segments
  json_is "$REPORT" ".segments >= $(jq length <<<"$SEGMENTS") and .open_segments == 0" "segments of $CHANNEL that could not be verified"
  CHECKED=$((CHECKED + $(jq .checked_blocks <<<"$REPORT")))
}

# stream_is_verified: all segments that there are of this round's stream; REPORT says what was found.
stream_is_verified() {
  REPORT=$(tapectl_json recordings verify "$RECORDING") || true
  jq -e '.checked_blocks > 0' <<<"$REPORT"
}

# ledger_holds: the recording of this round, block by block; sometimes played too.
ledger_holds() {
  local report
  ((ACKNOWLEDGED > 0)) || return 0
  if [[ $KIND == ring ]]; then
    check_ring
    return
  fi
  wait_for 10 is_closed "$RECORDING" || fail "$RECORDING is not closed"
  json_is "$(tapectl_json recordings show "$RECORDING")" ".blocks >= $ACKNOWLEDGED" "$RECORDING"
  report=$(tapectl_json recordings verify "$RECORDING" || true)
  json_is "$report" "[.damaged[]? | select(.sequence < $ACKNOWLEDGED or .kind != \"missing\")] == []" \
    "$ACKNOWLEDGED blocks of $RECORDING were acknowledged"
  ((RANDOM % 8)) || json_is "$(tapectl_json play "$RECORDING" --sink verify)" '.crc_errors == 0' "$RECORDING"
  CHECKED=$((CHECKED + ACKNOWLEDGED))
}

# ledger_makes_room: every recording lives through some restarts. A ring makes room itself.
ledger_makes_room() {
  [[ $KIND == ring ]] || ((ROUND < 8)) ||
    tapectl recordings delete "$(tapectl_json recordings list | jq -r '.recordings[-1].name')" >/dev/null
}

ledger_ends() {
  [[ $KIND != mirror ]] || json_is "$(tapectl_json lun list)" '[.luns[].state] == ["READY", "READY"]' "both copies are whole"
  ((CHECKED > 0)) || fail "no round has acknowledged a block"
  echo "$KILLS kills while recording, $RECOVERIES while recovering: $CHECKED acknowledged blocks, 0 lost;" \
    "the longest restart took $WORST_MS ms"
}
