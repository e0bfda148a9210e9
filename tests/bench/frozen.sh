#!/usr/bin/env bash
# What a recording at full rate loses to eight sessions and four calls that wait for the frozen disk of another LUN: its rate
# beside the one it had before in the same run, the longest time it took no block, and the longest answer of the node's health.
#   tests/bench/frozen.sh [--rounds N] [--seconds N] [--check]
# Its LUN lies in memory (/dev/shm, of which it takes half), which has no pauses of its own; as root.
# --check exits 1 below 0.95 of the rate, above 50 ms without a block or 100 ms without an answer.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/frozen_disk.sh"

ROUNDS=5 DURATION=2 CHECK=no

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

nanoseconds() { date +%s%N; }

# slowest_answer_ms SECONDS: of the node's description, which reads no disk; the program's start is part of it.
slowest_answer_ms() {
  local began slowest=0 until
  until=$(($(milliseconds) + 1000 * $1))
  while began=$(milliseconds) && ((began < until)); do
    tapectl_json nodes >/dev/null || return 1
    ((slowest >= $(milliseconds) - began)) || slowest=$(($(milliseconds) - began))
    sleep 0.2
  done
  echo "$slowest"
}

# one_round: one line of JSON. The rates come from the times at which the recorded blocks were made: with eight slots the
# worker makes none while none are taken.
one_round() {
  local recording alone frozen answer_alone answer
  start_job record good/c0 --source synth --slots 8 --duration 600s >/dev/null
  recording=$(job_of good | jq -r .recording)
  alone=$(nanoseconds)
  answer_alone=$(slowest_answer_ms "$DURATION")
  alone+=" $(nanoseconds)"
  freeze
  crowd
  sleep 1
  frozen=$(nanoseconds)
  answer=$(slowest_answer_ms "$DURATION")
  frozen+=" $(nanoseconds)"
  tapectl jobs cancel "$(job_of good | jq -r .name)" >/dev/null
  end_job
  json_is "$ANSWER" '.state == "CANCELLED"' "the recording ended before it was told to"
  thaw
  wait "${CROWD[@]}" || true
  CROWD=()
  wait_for 20 is_closed "$recording" || return 1
  # shellcheck disable=SC2086
  "$TAPEDECK_ROOT/tests/bench/block_times.py" "$GOOD/c0/${recording##*/}/index" $alone $frozen |
    jq -c --argjson alone "$answer_alone" --argjson beside "$answer" \
      '. + {answer_alone_ms: $alone, answer_beside_ms: $beside}'
  wait_for 20 tapectl recordings delete "$recording" || return 1
}

main() {
  local all free
  begin_test
  begin_disk
  GOOD=$(mktemp -d -p /dev/shm tapedeck.XXXXXX)
  trap 'rm -rf "$GOOD"; end_disk' EXIT
  mkdir "$WORK/disk/member"
  start_storage
  start_worker
  free=$(df -B1 --output=avail /dev/shm | tail -n 1)
  tapectl lun create good --store posix --member "$GOOD" --capacity $((free / 2)) >/dev/null
  tapectl lun create frozen --store posix --member "$WORK/disk/member" >/dev/null
  tapectl channel create good/c0 --block-bytes 1MiB >/dev/null
  tapectl channel create frozen/c0 --block-bytes 1MiB >/dev/null
  OLD=$(tapectl_json record frozen/c0 --source synth --blocks 20 | tail -n 1 | jq -r .recording)
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "frozen", figures: with_entries(select(.key | test("_ms$"))),
    ratios: with_entries(select(.key | test("_to_"))), $machine}' <<<"$all")" \
    'beside_to_alone >= 0.95' 'gap_beside_ms <= 50' 'answer_beside_ms <= 100'
}

main
