#!/usr/bin/env bash
# Runs the checks of a file (checks.sh) in one virtual machine.
#   tests/lab/shared_machine.sh FILE [OPTION OF vm.sh...] [-- NAME...]     checks by name; all, unless told
# A line for each check says what came of it (results.sh). Exit status 1: one failed, or did not run; 77: no machine.
set -euo pipefail
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/results.sh
source "$LAB/results.sh"

# say_not_run: checks of the list that have no verdict.
say_not_run() {
  local name verdict=failed why="the machine ended before it did"
  if ((STATUS == 77)); then
    verdict=skipped why=$(sed -n 's/^skipped: //p' "$SAID/machine" | tail -n 1)
  fi
  while read -r name; do
    grep -q $'^[a-z]*\t'"$name"$'\t' "$SAID/verdicts" || say_result "$verdict" "$name" 0 "$why"
  done <"$SAID/list"
}

(($# > 0)) || { sed -n '2,/^set -e/s/^# \{0,1\}//p' "$0" && exit 2; }
FILE=$1 OPTIONS=() STATUS=0
shift
while (($# > 0)) && [[ $1 != -- ]]; do OPTIONS+=("$1") && shift; done
[[ ${1:-} != -- ]] || shift
SAID=$(mktemp -d "${TMPDIR:-/tmp}/tapedeck-checks.XXXXXX")
trap 'rm -rf "$SAID"' EXIT
"$LAB/checks.sh" --list "$FILE" "$@" >"$SAID/list"
"$LAB/vm.sh" --timeout 3400 "${OPTIONS[@]}" --env "TAPEDECK_BIN=${TAPEDECK_BIN:-$LAB/../../build/bin}" \
  --env "TAPEDECK_LONG=${TAPEDECK_LONG:-}" --env TAPEDECK_WAITING=abort -- "$LAB/checks.sh" "$FILE" "$@" </dev/null 2>"$SAID/machine" |
  keep_results | tee "$SAID/verdicts" || STATUS=$?
cat "$SAID/machine"
say_not_run
exit "$STATUS"
