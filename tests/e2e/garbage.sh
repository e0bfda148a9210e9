#!/usr/bin/env bash
# Garbage on every port, control and data, while a job runs: the job and the services do not mind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ports_of() { ss -Hltnp | awk -v pid="pid=$1," 'index($0, pid) {print $4}'; }

BLOCKS=$(scaled 1000)

begin_test
start_storage
start_worker
CAPACITY=$((BLOCKS / 4 + 100))MiB lun_with_channel memory l0/c0 cf32_le 256KiB
mapfile -t ports < <(ports_of "$STORAGE_PID" && ports_of "$WORKER_PID")
((${#ports[@]} >= 2)) || fail "found only the ports ${ports[*]}"
/usr/bin/python3 "$(dirname "$0")/garbage.py" 12 "${ports[@]}" &
attacker=$!
for round in 1 2 3 4; do
  answer=$(tapectl_json record l0/c0 --source synth --blocks "$BLOCKS")
  is_whole "$answer" "recording amid garbage, round $round"
  recording=$(jq -r .recording <<<"$answer")
  answer=$(tapectl_json play "$recording" --sink verify)
  is_whole "$answer" "playing amid garbage, round $round"
  json_is "$answer" ".blocks == $BLOCKS" "blocks played"
  tapectl recordings delete "$recording" >/dev/null
done
wait "$attacker"
kill -0 "$STORAGE_PID" "$WORKER_PID" || fail "a service died of garbage"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 50)" "recording after the garbage"
