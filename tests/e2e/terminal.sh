#!/usr/bin/env bash
# tapectl on a terminal: q, Ctrl-C, signals and Ctrl-Z leave the terminal's settings as they were; with TERM=dumb nothing moves the
# cursor; verify, copy and scrub say how far they are. Off a terminal each of these prints none of it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

on_terminal() { "$TAPEDECK_ROOT/tests/e2e/terminal.py" "$1" "$TAPEDECK_BIN/tapectl" "${@:2}"; }
ESCAPE=$'\033'

ends_well() {
  local command
  for command in "top --every 100ms" "watch lun --every 100ms"; do
    # shellcheck disable=SC2086
    on_terminal quit $command || fail "q in: $command"
    # shellcheck disable=SC2086
    on_terminal signals $command || fail "a signal in: $command"
    # shellcheck disable=SC2086
    on_terminal stop $command || fail "Ctrl-Z in: $command"
  done
  # A node that does not answer keeps nobody.
  kill -STOP "$STORAGE_PID"
  (sleep 1 && kill -CONT "$STORAGE_PID") &
  on_terminal quit top --every 100ms || fail "q while a node hangs"
  wait $!
}

is_plain() {
  local text
  text=$(on_terminal dumb "$@") || fail "with TERM=dumb: $*: $text"
  [[ $text != *"$ESCAPE"* ]] || fail "with TERM=dumb $* writes an escape: $(cat -v <<<"$text")"
  printf '%s' "$text"
}

shows_plain_tables() {
  local text
  text=$(is_plain watch lun --every 10ms --count 3)
  (($(grep -c '^l0 ' <<<"$text") == 3)) || fail "watch with TERM=dumb is no table at each interval: $text"
  is_plain top --every 10ms --count 2 >/dev/null
  is_plain recordings verify l0/c0/latest >/dev/null
  is_plain view l0/c0/latest >/dev/null
}

# tells_progress PATTERN ARGUMENT...: on a terminal, and not off it.
tells_progress() {
  local text pattern=$1
  shift
  text=$(on_terminal progress "$@") || fail "$*: $text"
  grep -qE "$pattern" <<<"$text" || fail "no progress of $*: $(cat -v <<<"$text")"
  NO_COLOR=1 on_terminal progress "$@" | grep -q "$ESCAPE"'\[32m' && fail "$* is coloured in spite of NO_COLOR"
  text=$(tapectl "$@" 2>&1) || fail "$*: $text"
  ! grep -q '%' <<<"$text" || fail "progress of $* off a terminal: $text"
}

begin_test
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 1MiB
tapectl channel create l0/c1 --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null
tapectl record l0/c0 --source synth --blocks 200 >/dev/null
ends_well
shows_plain_tables
tells_progress 'verify .*[0-9]+%.* [0-9]+ of 200 blocks' recordings verify l0/c0/latest
tells_progress 'scrub .*[0-9]+%.* [0-9]+ of 200 blocks' scrub start l0 --rate 200MB --restart
for _ in 1 2 3; do tapectl record l0/c0 --source synth --blocks 100 >/dev/null; done
copies=0
while read -r name; do
  copies=$((copies + 1))
  ((copies > 1)) || text=$(on_terminal progress recordings copy "$name" --to l0/c1 --pace 100MB)
done < <(tapectl_json recordings list l0/c0 | jq -r '.recordings[].name')
grep -qE 'copy .*[0-9]+%.* MiB of 100 MiB' <<<"$text" || fail "no progress of a copy: $(cat -v <<<"$text")"
echo "q, signals and Ctrl-Z leave the terminal as it was; nothing moves the cursor with TERM=dumb"
