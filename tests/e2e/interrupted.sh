#!/usr/bin/env bash
# SIGINT, once or twice, SIGTERM or SIGKILL ends tapectl at random moments of an import, an export, a copy and a recording: what
# looks whole afterwards is whole, with its annotations, and nothing is left of an import that was told to end.
#   interrupted.sh [MOMENTS]    of each of the four; default 6, with TAPEDECK_LONG 50
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MOMENTS=${1:-6}
[[ -z ${TAPEDECK_LONG:-} ]] || MOMENTS=50
BLOCKS=800 BLOCK_BYTES=65536 # 50 MiB
SIGNALS=(INT TWICE KILL TERM) # TWICE is SIGINT and SIGINT again
declare -A TOOK=() ENDED=()

make_file() {
  head -c $((BLOCKS * BLOCK_BYTES)) /dev/urandom >"$WORK/in.sigmf-data"
  cat >"$WORK/in.sigmf-meta" <<'END'
{"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0"},
 "captures": [{"core:sample_start": 0, "core:datetime": "2024-01-02T03:04:05Z"}],
 "annotations": [{"core:sample_start": 7, "core:sample_count": 9, "core:label": "burst"}]}
END
}

# The shell starts its background jobs with SIGINT ignored.
exec_tapectl() { exec env --default-signal=INT "$TAPEDECK_BIN/tapectl" --output json "$@"; }

# What each command does, and into what.
run_import() { exec_tapectl recordings import l/import "$WORK/in.sigmf-meta" --format sigmf; }
run_export() { exec_tapectl recordings export "$ORIGINAL" --format sigmf --to "$WORK/out/e.sigmf"; }
run_copy() { exec_tapectl recordings copy "$ORIGINAL" --to deep/copy; }
run_record() { exec_tapectl record l/record --source "file:$WORK/in.sigmf-meta"; }

# is_the_file RECORDING WHAT: byte for byte, with its annotation.
is_the_file() {
  rm -f "$WORK/back"
  tapectl recordings export "$1" --format raw --to "$WORK/back" >/dev/null || fail "$2: $1 gives nothing"
  cmp "$WORK/back" "$WORK/in.sigmf-data" || fail "$2: $1 looks whole"
  json_is "$(tapectl_json recordings show "$1")" '[.annotations[]? | .label] == ["burst"]' "$2: annotations of $1"
}

# all_closed CHANNEL
all_closed() { tapectl_json recordings list "$1" | jq -e '[.recordings[]? | select(.state == "RECORDING")] == []'; }

# recordings_are CHANNEL WHAT: each is closed, and the file if it is SEALED and does not say why it is short; then they go.
recordings_are() {
  local name state cause
  wait_for 15 all_closed "$1" || fail "$2: a recording stays open: $(tapectl recordings list "$1")"
  while read -r name state cause; do
    [[ $state != SEALED || $cause == "the job was cancelled" ]] || is_the_file "$name" "$2"
    tapectl recordings delete "$name" >/dev/null
    ENDED[$1.$state]=$((${ENDED[$1.$state]:-0} + 1))
  done < <(tapectl_json recordings list "$1" | jq -r '.recordings[]? | "\(.name) \(.state) \(.cause // "")"')
}

judge_import() {
  [[ $2 == KILL ]] || json_is "$(tapectl_json recordings list l/import)" '[.recordings[]?.state] | all(. == "SEALED")' "after $1"
  recordings_are l/import "$1"
}
judge_copy() { recordings_are deep/copy "$1"; }
judge_record() {
  wait_for 30 job_has_ended || fail "$1: the job goes on: $(job)"
  recordings_are l/record "$1"
}
job_has_ended() { job '(.state // "FAILED") | IN("RUNNING", "STARTING", "PREPARING") | not' -e; }
judge_export() {
  if [[ -e $WORK/out/e.sigmf-meta ]]; then
    jq -e .global "$WORK/out/e.sigmf-meta" >/dev/null || fail "$1: the metadata are cut"
    [[ -e $WORK/out/e.sigmf-data ]] || fail "$1: metadata without data"
  fi
  [[ ! -e $WORK/out/e.sigmf-data ]] || cmp "$WORK/out/e.sigmf-data" "$WORK/in.sigmf-data" || fail "$1: the data look whole"
  rm -f "$WORK"/out/*
}

# send SIGNAL PID
send() {
  if [[ $1 != TWICE ]]; then
    kill "-$1" "$2" 2>/dev/null || true
    return
  fi
  kill -INT "$2" 2>/dev/null || true
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -INT "$2" 2>/dev/null || true
}

# interrupt COMMAND SIGNAL: at a moment up to the time that it takes.
interrupt() {
  local pid status=0 after=$((RANDOM * (TOOK[$1] + 1) / 32768))
  "run_$1" >"$WORK/said" 2>&1 &
  pid=$!
  sleep "$(printf '%d.%03d' $((after / 1000)) $((after % 1000)))"
  send "$2" "$pid"
  wait "$pid" || status=$?
  ((status != 2)) || fail "$1 was used wrongly: $(<"$WORK/said")"
  "judge_$1" "$1 with $2 after $after ms (status $status)" "$2"
}

# measure COMMAND: uninterrupted.
measure() {
  local began
  began=$(milliseconds)
  ("run_$1") >"$WORK/said" 2>&1 || fail "$1: $(<"$WORK/said")"
  TOOK[$1]=$(($(milliseconds) - began))
  "judge_$1" "$1" NONE
}

# The second Ctrl-C of an import whose node answers nothing for a while: it still undoes what it has made.
interrupt_frozen_import() {
  local pid status=0
  truncate -s 8G "$WORK/long"
  (exec_tapectl recordings import l/import "$WORK/long" --format raw) >"$WORK/said" 2>&1 &
  pid=$!
  wait_for 20 import_is_open >/dev/null || fail "the long import does not begin: $(<"$WORK/said")"
  kill -STOP "${SERVICE_PIDS[0]}"
  send TWICE "$pid"
  sleep 0.5
  kill -0 "$pid" 2>/dev/null || status=130
  kill -CONT "${SERVICE_PIDS[0]}"
  ((status == 0)) || fail "a second Ctrl-C kills an import: $(<"$WORK/said")"
  wait "$pid" || status=$?
  ((status == 1)) || fail "an interrupted import ends with $status: $(<"$WORK/said")"
  grep -q "a third time" "$WORK/said" || fail "nothing says what goes on: $(<"$WORK/said")"
  json_is "$(tapectl_json recordings list l/import)" '.recordings // [] | length == 0' "left by an import that was told to end"
  rm "$WORK/long"
}
# The first Ctrl-C of a copy says how to go on, and the same line does.
interrupt_slow_copy() {
  local pid status=0 answer
  (XDG_STATE_HOME=$WORK/kept exec_tapectl recordings copy "$ORIGINAL" --to deep/copy --pace 10MB) >"$WORK/said" 2>&1 &
  pid=$!
  wait_for 20 copy_is_open >/dev/null || fail "the slow copy does not begin: $(<"$WORK/said")"
  send INT "$pid"
  wait "$pid" || status=$?
  ((status == 1)) || fail "an interrupted copy ends with $status: $(<"$WORK/said")"
  grep -q "it was interrupted; run the same command again to continue the copy" "$WORK/said" || fail "nothing says how to go on: $(<"$WORK/said")"
  answer=$(XDG_STATE_HOME=$WORK/kept tapectl_json recordings copy "$ORIGINAL" --to deep/copy)
  json_is "$answer" '.first_block > 0' "the same line begins anew"
  recordings_are deep/copy "a copy that was interrupted"
}
copy_is_open() { tapectl_json recordings list deep/copy | jq -e '.recordings[0] | .state == "RECORDING" and .blocks > 0'; }

import_is_open() { tapectl_json recordings list l/import | jq -e '.recordings[0].state == "RECORDING"'; }

begin_test
start_storage
WORKER_DEVICE=host start_worker
mkdir -p "$WORK/m0" "$WORK/m1" "$WORK/out"
make_file
tapectl lun create l --store posix --member "$WORK/m0" >/dev/null
tapectl lun create deep --store posix --member "$WORK/m1" >/dev/null
for channel in l/import l/record l/original; do
  tapectl channel create "$channel" --datatype ci16_le --block-bytes $BLOCK_BYTES --sample-rate 1e6 >/dev/null
done
tapectl channel create deep/copy --datatype ci16_le --block-bytes $BLOCK_BYTES --sample-rate 1e6 >/dev/null
tapectl recordings import l/original "$WORK/in.sigmf-meta" --format sigmf >/dev/null
ORIGINAL=$(tapectl_json recordings show l/original/latest | jq -r .name)
interrupt_frozen_import
interrupt_slow_copy
for command in import export copy record; do
  measure "$command"
  for ((i = 0; i < MOMENTS; ++i)); do interrupt "$command" "${SIGNALS[i % 3]}"; done
  echo "$MOMENTS moments of $command, which takes ${TOOK[$command]} ms"
done
for state in "${!ENDED[@]}"; do echo "${state}: ${ENDED[$state]}"; done | sort
