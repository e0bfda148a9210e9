#!/usr/bin/env bash
# The units of both daemons, as systemd itself reads them: nothing that it warns of, and an exposure of 2.0 at most.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

UNITS=$TAPEDECK_ROOT/deploy/systemd

# check_unit NAME: the programs of this build stand for those that the package installs.
check_unit() {
  local unit=$WORK/$1.service said exposure
  sed "s,^ExecStart=/usr/bin/,ExecStart=$TAPEDECK_BIN/," "$UNITS/$1.service" >"$unit"
  said=$(systemd-analyze verify --man=no "$unit" 2>&1 | grep -F "$1.service" || true)
  [[ -z $said ]] || fail "systemd-analyze verify: $said"
  systemd-analyze security --offline=true "$unit" >"$WORK/security"
  exposure=$(sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p' "$WORK/security")
  echo "$1: exposure $exposure"
  jq -en "${exposure:-10} <= 2.0" >/dev/null || fail "exposure $exposure: $(grep '✗' "$WORK/security")"
}

need systemd-analyze
begin_test
check_unit tapedeck-storage
check_unit tapedeck-worker
