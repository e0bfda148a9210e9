#!/usr/bin/env bash
# The scenarios of this folder over RDMA: runs in the virtual machine of tests/lab, whose two ports are the rails.
#   tests/lab/vm.sh --memory 4096 --timeout 1200 -- tests/e2e/over_verbs.sh [all | SCENARIO...]
# Unless told, the ones in which RDMA makes a difference: everything is some twenty times slower there.
set -uo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1" TAPEDECK_E2E_PERCENT=6

SCENARIOS=("file_round_trip.sh generated" two_rails.sh ports_down.sh worker_killed.sh idle_session.sh)
OTHERS=("file_round_trip.sh adsb" "file_round_trip.sh sigmf" node_killed.sh wrong_input.sh garbage.sh idle.sh leaks.sh
  "../../deploy/demo.sh --blocks 32")
case ${1:-} in
  '') ;;
  all) SCENARIOS+=("${OTHERS[@]}") ;;
  *) SCENARIOS=("$@") ;;
esac

# A scenario that failed may have left a port as it was then.
ports_up() {
  local port
  for port in 0 1; do "$HERE/../lab/guest.sh" port_up "$port"; done
}

failed=0
for scenario in "${SCENARIOS[@]}"; do
  read -ra line <<<"$scenario"
  started=$SECONDS status=0
  "$HERE/${line[0]}" "${line[@]:1}" >/tmp/scenario.log 2>&1 || status=$?
  case $status in
    0) verdict=passed ;;
    77) verdict="skipped: $(sed -n 's/^skipped: //p' /tmp/scenario.log | tail -n 1)" ;;
    *) verdict="FAILED ($status)" failed=1 ;;
  esac
  ports_up
  printf '%-36s %4d s  %s\n' "$scenario" $((SECONDS - started)) "$verdict"
  sed 's/^/    /' /tmp/scenario.log
done
exit "$failed"
