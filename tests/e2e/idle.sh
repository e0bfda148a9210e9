#!/usr/bin/env bash
# Idle services use less than 2 % of one core, also after they have worked.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SECONDS_IDLE=10

begin_test
start_storage
start_worker
CAPACITY=256MiB lun_with_channel memory l0/c0 cf32_le 1MiB
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 100)" "recording before the rest"
sleep 1
storage=$(ticks "$STORAGE_PID") worker=$(ticks "$WORKER_PID")
sleep "$SECONDS_IDLE"
limit=$(($(getconf CLK_TCK) * SECONDS_IDLE * 2 / 100))
storage=$(($(ticks "$STORAGE_PID") - storage)) worker=$(($(ticks "$WORKER_PID") - worker))
echo "idle for $SECONDS_IDLE s: storage $storage ticks, worker $worker ticks, limit $limit"
((storage < limit)) || fail "tapedeck-storage uses $storage ticks idle"
((worker < limit)) || fail "tapedeck-worker uses $worker ticks idle"
