#!/usr/bin/env bash
# The commands that the README gives under "By hand", as they are typed there and one after another: each does what it says. Both
# triggers name exactly the window that was asked for; the recording from memory holds it in as few blocks as can, the ring its beginning.
#   readme.sh [--busy]     beside a process that keeps one core busy: only with TAPEDECK_LONG=1, as whatever runs beside other tests has
#                          no core to itself
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RATE=1000000

# has_begun JOBS BLOCKS: beside so many earlier ones there is a job, which has moved some blocks.
has_begun() { tapectl_json jobs list | jq -e "(.jobs | length) > $1 and .jobs[0].blocks >= $2"; }

# in_background COMMAND: returns once what it starts is there; a recording, once it has more than the seconds before a trigger.
in_background() {
  local before
  case $1 in
    tapedeck-*)
      eval "$1 >>$WORK/services.log 2>&1 &"
      SERVICE_PIDS+=($!)
      wait_for 15 port_answers "$([[ $1 == *storage* ]] && echo "$STORAGE_PORT" || echo "$WORKER_PORT")" || fail "no answer: $1"
      return
      ;;
  esac
  before=$(tapectl_json jobs list | jq '.jobs | length')
  eval "$1 &"
  wait_for 60 has_begun "$before" $((RATE * 8 * 3 / MIB)) || fail "it does not get going: $1"
}

# end_jobs: what goes on until it is told.
end_jobs() {
  local name
  for name in $(tapectl_json jobs list | jq -r '.jobs[] | select(.end_time == null) | .name'); do
    tapectl jobs cancel "$name" >/dev/null || true
  done
}

# run COMMAND: one that goes on until it is told runs beside the next ones, as somebody would type these elsewhere.
run() {
  echo "\$ $1"
  case $1 in
    *'&') in_background "${1%&}" ;;
    *--follow*--from-time*) in_background "$1" ;;
    "tapectl trigger"*)
      eval "$1" | tee "$WORK/capture" || fail "status $? of: $1"
      is_the_window
      ;;
    *) eval "$1" || fail "status $? of: $1" ;;
  esac
}

is_closed() { tapectl_json recordings list --segments "$1" | jq -e --arg name "$2" '.recordings[] | select(.name == $name) | .state == "SEALED"'; }

# is_the_window: what the trigger has said it keeps is two seconds before it, from the beginning of a block on, and one after it. It
# is there, as it was made.
# In a ring it may end in the next segment.
is_the_window() {
  local recording first trigger end channel begin
  read -r recording first trigger end < <(tail -n 1 "$WORK/capture")
  ((trigger - first >= 2 * RATE && end - trigger == RATE)) || fail "not the window: $(tail -n 1 "$WORK/capture")"
  channel=${recording#luns/} channel=${channel%/recordings/*}
  wait_for 60 is_closed "${channel/channels\//}" "$recording" || fail "$recording is not closed"
  # Positions count from the first sample that the recording has.
  begin=$(tapectl_json recordings show "$recording" | jq .first_sample)
  first=$((first - begin)) end=$((end - begin))
  tapectl play "$recording" --from-sample "$first" --to-sample "$end" --sink verify || fail "$recording does not play from $first to $end"
  [[ $channel == ring/* ]] || tapectl play "$recording" --from-sample $((end - 1)) --sink verify || fail "$recording ends before $end"
}

spin() { while true; do true; done; }

begin_test
if [[ ${1:-} == --busy ]]; then
  [[ -n ${TAPEDECK_LONG:-} ]] || skip "a process that keeps a core busy; TAPEDECK_LONG=1 or deploy/test.sh --all runs it"
  spin &
fi
STORAGE_PORT=$(free_port) WORKER_PORT=$(free_port)
export TAPEDECK_STORAGE=127.0.0.1:$STORAGE_PORT TAPEDECK_WORKER=127.0.0.1:$WORKER_PORT
unset -f tapectl
mkdir -p "$WORK/home/build"
cd "$WORK/home"
ln -s "$TAPEDECK_BIN" build/bin
head -c 1000000 /dev/urandom >capture.bin
"$TAPEDECK_ROOT/tests/e2e/readme_list.py" by_hand >"$WORK/commands"
(($(grep -c . "$WORK/commands") > 25)) || fail "no commands found in the README"
while read -r command <&4; do
  run "$command"
done 4<"$WORK/commands"
end_jobs
cmp capture.bin copy.bin
json_is "$(tapectl_json recordings list l0/seen)" ".recordings[-1] | .blocks * .block_bytes < 8 * 3 * $RATE + 2 * .block_bytes" "more than the window"
