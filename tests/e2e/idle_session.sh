#!/usr/bin/env bash
# A session that is open and has nothing to move uses less than 2 % of one core at either end: nothing spins.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SECONDS_IDLE=10
[[ -z ${TAPEDECK_E2E_PERCENT:-} ]] || SECONDS_IDLE=5

begin_test
address=127.0.0.1:$(free_port)
start_service "$WORK/node.log" "${address##*:}" \
  "$TAPEDECK_BIN/tapedeck-bench" null-node --listen "$address" "${STORAGE_RAILS[@]}"
node=$SERVICE_PID
"$TAPEDECK_BIN/tapedeck-bench" rails --node "$address" --rails "$(IFS=, && echo "${RAILS[*]#*=}")" \
  --blocks 50 --hold 600 >"$WORK/worker.json" 2>"$WORK/worker.log" &
worker=$!
wait_for 20 grep -q 'rail up.*r1' "$WORK/worker.log" || fail "the session did not come up"
sleep 3
before=("$(ticks "$node")" "$(ticks "$worker")")
sleep "$SECONDS_IDLE"
used=($(($(ticks "$node") - before[0])) $(($(ticks "$worker") - before[1])))
limit=$(($(getconf CLK_TCK) * SECONDS_IDLE * 2 / 100))
# An emulated processor needs ten times as long, and its clock counts what its host does meanwhile: there only a poller
# that spins can be told, which uses all of a processor.
[[ -z ${TAPEDECK_E2E_PERCENT:-} ]] || limit=$((limit * 20))
kill -INT "$worker"
wait "$worker" || fail "the session did not end in order: $(cat "$WORK/worker.log")"
json_is "$(cat "$WORK/worker.json")" ".blocks == 50" "blocks of the session"
echo "an open session idle for $SECONDS_IDLE s: node ${used[0]} ticks, worker ${used[1]} ticks, limit $limit"
((used[0] < limit && used[1] < limit)) || fail "an idle session uses a processor"
