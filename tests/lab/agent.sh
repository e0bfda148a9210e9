#!/usr/bin/env bash
# Runs in a machine of two_vms.sh: starts and stops jobs as the orders on its standard input say. A job is a folder
# with the file command; stdout, stderr, pid and, at its end, status are written there.
set -uo pipefail

run_job() {
  local status=0
  cd "/run/lab/jobs/$1" || return
  setsid bash ./command </dev/null >stdout 2>stderr &
  echo $! >pid
  wait $! || status=$?
  # Under its own name only when it is whole.
  echo "$status" >status.new
  mv status.new status
}

touch /run/lab/ready
while read -r order job; do
  case $order in
    start) run_job "$job" & ;;
    stop) kill -- "-$(<"/run/lab/jobs/$job/pid")" ;;
  esac
done
