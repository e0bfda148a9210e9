#!/bin/sh
# What `helm test` runs: asks the doctor, then records, verifies, plays back with a check of every block, and removes what it made.
#   record_and_play.sh [OPTION OF tapectl...]
# TAPEDECK_STORAGE and TAPEDECK_WORKER are the nodes, HOST:PORT. TEST_LUN is a LUN that is there; empty: one in the storage node's
# memory, for the test alone. TEST_MEBIBYTES is what it records.
set -eu

MEBIBYTES=${TEST_MEBIBYTES:-512}
OWN=helm-test-$(date +%s)-$$
LUN=${TEST_LUN:-$OWN}
CHANNEL=$LUN/$OWN
MADE=

step() { echo "== $*"; }

# Removes only what this run has made. A name of its own keeps it from all else.
remove() {
  status=$?
  trap - EXIT
  case $MADE in *recording*) tapectl "$@" recordings delete "$CHANNEL/latest" || status=1 ;; esac
  case $MADE in *channel*) tapectl "$@" channel delete "$CHANNEL" || status=1 ;; esac
  case $MADE in *lun*) tapectl "$@" lun delete "$LUN" || status=1 ;; esac
  [ "$status" -eq 0 ] || echo "FAILED: the message above has the reason; services/README.md says what helps"
  exit "$status"
}
trap 'remove "$@"' EXIT
trap 'exit 143' TERM INT

step "nodes"
tapectl "$@" nodes
step "doctor"
verdict=0
tapectl "$@" doctor || verdict=$?
# 10: warnings, which a test lives with.
[ "$verdict" -eq 0 ] || [ "$verdict" -eq 10 ] || exit "$verdict"

if [ -z "${TEST_LUN:-}" ]; then
  step "LUN of $MEBIBYTES MiB in the storage node's memory"
  tapectl "$@" lun create "$LUN" --store memory --capacity "$((MEBIBYTES + 16))MiB"
  MADE="$MADE lun"
fi
tapectl "$@" channel create "$CHANNEL" --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9
MADE="$MADE channel"
step "recording $MEBIBYTES MiB"
tapectl "$@" record "$CHANNEL" --source synth --blocks "$MEBIBYTES"
MADE="$MADE recording"
step "verifying what is stored"
tapectl "$@" recordings verify "$CHANNEL/latest"
step "playing back and comparing every block"
tapectl "$@" play "$CHANNEL/latest" --sink verify
step "passed"
