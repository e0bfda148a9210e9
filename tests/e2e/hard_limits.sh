#!/usr/bin/env bash
# What a caller says cannot write control characters into the log, tiny blocks are charged what they take of a LUN, and
# silent strangers do not keep a recording from its rails.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

STRANGERS=800

log_is_clean() {
  tapectl record $'l0/\e[2Jx' --source synth --blocks 1 2>/dev/null && fail "a name of control characters was taken"
  tapectl lun create l1 --store posix --member $'/\e[2J/x' 2>/dev/null && fail "a member that is not there was taken"
  timeout 5 "$TAPEDECK_BIN/tapedeck-worker" --listen 127.0.0.1:0 --rail $'r\e[2J=tcp:127.0.0.1' 2>"$WORK/odd_worker.log" || true
  ! grep -q $'\e' "$WORK"/*.log || fail "control characters went into a log"
}

# used LUN: bytes that it counts as taken.
used() { tapectl_json lun list | jq --arg name "luns/$1" '[.. | objects | select(.name? == $name)][0].used_bytes'; }

tiny_blocks_are_charged() {
  local before taken on_disk
  before=$(used l0)
  printf '12345678' >"$WORK/tiny"
  for _ in {1..20}; do tapectl_json record l0/c0 --source "file:$WORK/tiny" >/dev/null; done
  taken=$(($(used l0) - before))
  on_disk=$((20 * 64 * 1024))
  echo "20 recordings of 8 bytes take $taken bytes of the LUN"
  ((taken >= on_disk)) || fail "20 slots of 64 KiB count as $taken bytes"
}

# rail_addresses: where the storage node listens, gRPC aside.
rail_addresses() {
  ss -Hltnp | awk -v pid="pid=$STORAGE_PID," -v grpc=":$STORAGE_PORT" 'index($0, pid) && !index($4, grpc) {print $4}'
}

# keep_coming ADDRESS...: silent connections to each, again and again, the newest STRANGERS of them open.
keep_coming() {
  local address fd open=()
  while true; do
    for address in "$@"; do
      exec {fd}<>"/dev/tcp/${address%:*}/${address##*:}" || continue
      open+=("$fd")
    done
    if ((${#open[@]} > STRANGERS)); then
      fd=${open[0]} open=("${open[@]:1}")
      exec {fd}>&-
    fi
  done 2>/dev/null
}

strangers_are_dropped() {
  local rails strangers answer
  mapfile -t rails < <(rail_addresses)
  keep_coming "${rails[@]}" &
  strangers=$!
  sleep 1
  answer=$(tapectl_json record l0/c0 --source synth --blocks 50) || fail "no recording beside silent strangers: $answer"
  kill "$strangers"
  is_whole "$answer" "a recording beside silent strangers"
}

begin_test
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 64KiB
log_is_clean
tiny_blocks_are_charged
strangers_are_dropped
