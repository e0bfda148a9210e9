#!/usr/bin/env bash
# Runs tests with two hosts (two_vms.sh) one after another on the same pair of machines: scripts that begin_vms. After one
# that failed the next gets a fresh pair. A line for each says what came of it (results.sh).
#   tests/lab/shared_pair.sh SCRIPT... [--long SCRIPT...]     those after --long only if TAPEDECK_LONG is set
# Exit status 1: one failed; 77: no machines.
set -uo pipefail
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/results.sh
source "$LAB/results.sh"

# run_scripts SCRIPT...: in this shell, until one fails; the end of the shell switches the machines off.
run_scripts() {
  local script started
  set -Ee
  # shellcheck source=tests/lab/two_vms.sh
  source "$LAB/two_vms.sh"
  # With the disk for those that need one.
  VM_DISK[a]=2G
  begin_vms --timeout 1800 --memory 1536
  for script in "$@"; do
    started=$SECONDS
    echo "$script $started" >"$SAID/current"
    # shellcheck source=/dev/null
    source "$script" >"$SAID/log" 2>&1
    echo >"$SAID/current"
    result_of 0 "$(name_of "$script")" $((SECONDS - started)) "$SAID/log"
  done
}

name_of() { basename "$1" .sh; }

SCRIPTS=()
for argument in "$@"; do
  [[ $argument != --long || -n ${TAPEDECK_LONG:-} ]] || break
  [[ $argument == --long ]] || SCRIPTS+=("$argument")
done
set -- "${SCRIPTS[@]}"
SAID=$(mktemp -d "${TMPDIR:-/tmp}/tapedeck-pair.XXXXXX")
trap 'rm -rf "$SAID"' EXIT
FAILED=0
while (($# > 0)); do
  echo "$1 $SECONDS" >"$SAID/current"
  : >"$SAID/log"
  (run_scripts "$@") 2>"$SAID/errors"
  status=$?
  read -r current started <"$SAID/current" || current=
  if ((status == 77)); then
    for script in "$@"; do result_of 77 "$(name_of "$script")" 0 "$SAID/errors"; done
    exit 77
  fi
  [[ -n ${current:-} ]] || break
  FAILED=1
  cat "$SAID/errors" >>"$SAID/log"
  result_of "$status" "$(name_of "$current")" $((SECONDS - started)) "$SAID/log"
  while [[ $1 != "$current" ]]; do shift; done
  shift
done
exit "$FAILED"
