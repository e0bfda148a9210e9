#!/usr/bin/env bash
# One timeline of both nodes: of a recording and a playback over two rails every block has all its stamps, in causal
# order within the uncertainty that is stated for the clocks; also with the worker's clock 3 s ahead. A session that
# fails leaves a dump.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BLOCKS=$(scaled 400)
CHECK=$(dirname "${BASH_SOURCE[0]}")/trace_check.py

# traced NAME ARGUMENT...: the JSON of tapectl trace, in ANSWER; FILE is the timeline.
traced() {
  FILE=$WORK/$1.pftrace
  rm -f "$FILE"
  ANSWER=$(tapectl_json trace "${@:2}" --to "$FILE") || fail "tapectl trace: $ANSWER"
}

# clocks_within OFFSET_MS: what is said of the storage node's clock holds, and is no worse than 5 ms.
clocks_within() {
  json_is "$ANSWER" ".nodes | length == 2 and all(.[]; .clock_known)" "both clocks are known"
  json_is "$ANSWER" ".nodes[1] | (.clock_offset_ns - $1 * 1000000 | fabs) <= .clock_uncertainty_ns
                     and .clock_uncertainty_ns < $(slow 5000000)" "the clock of the storage node"
  echo "clock: $(jq -c '.nodes[1] | {clock_offset_ns, clock_uncertainty_ns, clock_drift_ppm}' <<<"$ANSWER")"
}

# both_ways OFFSET_MS: records and plays, with both ops.
both_ways() {
  local op recording
  for op in READ WRITE; do
    recording=$(tapectl_json record l0/c0 --source synth --slots 16 --blocks "$BLOCKS" --op "$op" | jq -r .recording)
    traced "record-$op" "$(job .name)"
    clocks_within "$1"
    /usr/bin/python3 "$CHECK" "$FILE" record "$BLOCKS" "$(jq '.nodes[1].clock_uncertainty_ns' <<<"$ANSWER")" "$op"
    tapectl_json play "$recording" --sink verify --slots 16 --op "$op" >/dev/null
    traced "play-$op" "$(job .name)"
    clocks_within "$1"
    /usr/bin/python3 "$CHECK" "$FILE" play "$BLOCKS" "$(jq '.nodes[1].clock_uncertainty_ns' <<<"$ANSWER")" "$op"
    traced recording "$recording"
    json_is "$ANSWER" ".sessions | length == 2" "a recording and its playback"
    tapectl recordings delete "$recording" >/dev/null
  done
}

# segments: a stream over several recordings, two of which become durable side by side.
segments() {
  tapectl_json record ring/c1 --source synth --blocks "$BLOCKS" --op WRITE >/dev/null
  json_is "$(tapectl_json recordings list --segments ring/c1)" "[.. | .segment? // empty] | length > 2" "segments"
  traced segments "$(job .name)"
  /usr/bin/python3 "$CHECK" "$FILE" record "$BLOCKS" "$(jq '.nodes[1].clock_uncertainty_ns' <<<"$ANSWER")" WRITE
}

# The newest seconds while it runs, and files that are there or would be too large.
live() {
  start_job record ring/c0 --source synth --slots 16 --duration 60s
  traced live --last 2s
  json_is "$ANSWER" ".stamps > 100 and all(.nodes[]; .stamps > 0)" "stamps of a run"
  ! tapectl trace --last 1s --to "$FILE" >/dev/null 2>"$WORK/refused" || fail "a file was overwritten"
  grep -q FILE_EXISTS "$WORK/refused" || fail "$(<"$WORK/refused")"
  ANSWER=$(tapectl_json trace --last 1s --to "$FILE" --replace --limit 64KiB)
  (($(stat -c %s "$FILE") <= 65536)) || fail "the file has $(stat -c %s "$FILE") bytes"
  json_is "$ANSWER" ".left_out > 0" "what the limit left out"
  [[ -z $(find "$WORK" -name '*.part-*') ]] || fail "parts of files are left"
}

has_dump() { [[ -n $(find "$1" -name '*.flight' 2>/dev/null) ]]; }

# failed_session: the run that is under way loses its worker; the storage node leaves what it has of it.
failed_session() {
  local dump path
  kill_service "$WORKER_PID"
  end_job
  wait_for 15 has_dump "$WORK/state/flight" || fail "no dump of a session that lost its worker"
  path=$(find "$WORK/state/flight" -name '*.flight')
  dump=${path##*/}
  grep -q "dump=.*$dump" "$WORK/storage.log" || fail "the log does not name $dump"
  traced dump --dump "$dump"
  json_is "$ANSWER" ".stamps > 100 and .sessions[0] != \"\"" "stamps of a dump"
  traced dump_by_path --dump "$path"
  json_is "$ANSWER" ".stamps > 100" "stamps of a dump by its path"
  ! tapectl trace --dump no.flight --to "$WORK/none" >/dev/null 2>&1 || fail "there is no such dump"
  # The worker that takes its place knows nothing; the storage node does.
  start_worker
  traced after --last 60s
  json_is "$ANSWER" ".nodes[1].stamps > 100" "stamps of one node alone"
}

# A storage node that is gone fails the job, which leaves a dump where the worker has a state directory.
failed_job() {
  start_job record ring/c0 --source synth --slots 16 --duration 60s --resume-for 0s
  kill_service "$STORAGE_PID"
  end_job
  ((JOB_STATUS != 0)) || fail "$ANSWER"
  wait_for 15 has_dump "$WORK/worker-state/flight" || fail "no dump of a failed job"
  grep -q "dump=.*worker-state/flight/" "$WORK/worker.log" || fail "the log names no dump"
}

begin_test
WORKER_OPTIONS=(--state "$WORK/worker-state")
start_storage
start_worker
CAPACITY=$((BLOCKS / 2))MiB lun_with_channel memory l0/c0 cf32_le 256KiB
mkdir "$WORK/ring"
tapectl lun create ring --store posix --member "$WORK/ring" --capacity 1GiB --full-policy ring >/dev/null
tapectl channel create ring/c0 --block-bytes 256KiB --datatype cf32_le --sample-rate 1e6 >/dev/null
tapectl channel create ring/c1 --block-bytes 256KiB --segment "$((BLOCKS / 20))MiB" >/dev/null
both_ways 0
segments
live
failed_session
if unshare --time --monotonic 3 --fork true 2>/dev/null; then
  stop_service "$WORKER_PID"
  start_service "$WORK/worker.log" "$WORKER_PORT" unshare --time --monotonic 3 --fork --kill-child \
    "$TAPEDECK_BIN/tapedeck-worker" --listen "$TAPEDECK_WORKER" --device host "${WORKER_RAILS[@]}" "${WORKER_OPTIONS[@]}"
  WORKER_PID=$SERVICE_PID
  both_ways -3000
else
  echo "no time namespaces here: not with clocks 3 s apart"
fi
failed_job
