#!/usr/bin/env bash
# deploy/hwcheck.sh does on loopback what needs no hardware, says of everything else what is not here, and finds a recording that
# lacks a block.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

HWCHECK=$TAPEDECK_ROOT/deploy/hwcheck.sh

# fault NAME FILTER: what the file says of it.
fault() { jq -e --arg name "$1" ".faults[] | select(.name == \$name) | $2" "$WORK/all.json" >/dev/null || fail "$1: $(jq -c .faults "$WORK/all.json")"; }

does_what_it_can() {
  local name
  "$HWCHECK" --loopback --into "$WORK/all.json" >"$WORK/table.txt" || fail "it fails: $(cat "$WORK/table.txt")"
  for name in kill-storage kill-worker lun-full; do fault "$name" '.result == "passed" and .rounds == 1'; done
  fault connections '.result == "passed" or (.result == "not tried" and (.why | test("cuts no connections")))'
  fault memlock '.result == "not tried" and .why == "not here: rdma"'
  json_is "$(cat "$WORK/all.json")" '[.faults[] | select(.result == "not tried" and .why == "")] == []' "a fault is left out without a reason"
  json_is "$(cat "$WORK/all.json")" '.rates | length == 3 and all(.[]; .record_mb_per_s > 0 and .play_mb_per_s > 0 and .other_is != "")' "rates"
  json_is "$(cat "$WORK/all.json")" '.facts | length > 15 and (.kernel | length > 0) and (.nodes | fromjson | .nodes | length == 2)' "facts"
  grep -qE '^kill-worker +passed +1/1' "$WORK/table.txt" || fail "no table: $(cat "$WORK/table.txt")"
}

keeps_a_file_that_is_there() {
  ! "$HWCHECK" --loopback --into "$WORK/all.json" >/dev/null 2>&1 || fail "it replaces a file"
}

# A tapectl that says of each recording that its first block is damaged.
finds_what_is_lost() {
  mkdir "$WORK/bin"
  ln -s "$TAPEDECK_BIN"/tapedeck-* "$WORK/bin/"
  printf '#!/bin/sh\ncase " $* " in *" recordings verify "*) "%s" "$@" | jq -c ".damaged = [{sequence: 0}]" ;; *) exec "%s" "$@" ;; esac\n' \
    "$TAPEDECK_BIN/tapectl" "$TAPEDECK_BIN/tapectl" >"$WORK/bin/tapectl"
  chmod +x "$WORK/bin/tapectl"
  ! TAPEDECK_BIN=$WORK/bin "$HWCHECK" --loopback --only kill-worker --into "$WORK/lost.json" >"$WORK/lost.txt" || fail "it passes over a lost block"
  json_is "$(cat "$WORK/lost.json")" '.faults == [.faults[0]] and .faults[0].result == "FAILED" and (.faults[0].why | test("damaged"))' "a lost block"
}

begin_test
if [[ $JQ != jq ]]; then # what hwcheck.sh asks of it starts as fast as here
  mkdir "$WORK/jq"
  ln -s "$JQ" "$WORK/jq/jq"
  PATH=$WORK/jq:$PATH
fi
does_what_it_can
keeps_a_file_that_is_there
finds_what_is_lost
