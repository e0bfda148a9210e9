#!/usr/bin/env bash
# RDMA ports that fail while blocks move: one port, which comes back; then both, which do not. two_rails.sh is about whole
# recordings through such a port.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
[[ $RAIL_KIND == verbs ]] || skip "needs rails over verbs; two_rails.sh is the same for TCP"
own_the_rails "$@"

BLOCKS=$(scaled 4000)
STALL_LIMIT_MS=1000

blocks_moved() { job .blocks; }

generations_of_r1() { grep -c 'rail up.*rail=r1' "$1"; }

is_back_or_over() { (($(generations_of_r1 "$WORK/flap.log") > 1)) || ! kill -0 "$BENCH"; }

# flap DIRECTION OP BLOCKS: blocks that nobody has to make or keep move over both ports; one goes for 3 s. Fails if they were
# over before its rail was back.
flap() {
  "$TAPEDECK_BIN/tapedeck-bench" rails --rails "$(IFS=, && echo "${RAILS[*]#*=}")" --direction "$1" --op "$2" \
    --blocks "$3" >"$WORK/flap.json" 2>"$WORK/flap.log" &
  BENCH=$!
  wait_for 20 generations_of_r1 "$WORK/flap.log" || fail "$1: the session did not come up"
  sleep 1
  port_down 1
  sleep 3
  port_up 1
  wait_for 20 is_back_or_over || fail "$1: the port is up again, but not its rail"
  wait "$BENCH" || fail "$1: $(cat "$WORK/flap.log")"
  (($(generations_of_r1 "$WORK/flap.log") > 1))
}

# through_flap DIRECTION OP: with more blocks where the machine moves them faster than it did before.
through_flap() {
  local answer gap blocks=$FLAP_BLOCKS
  until flap "$1" "$2" "$blocks"; do
    ((blocks < 8 * FLAP_BLOCKS)) || fail "$1: $blocks blocks were over before the rail was back"
    blocks=$((blocks * 2))
  done
  answer=$(cat "$WORK/flap.json")
  gap=$(jq '.longest_gap_ms | round' <<<"$answer")
  echo "$1 by $2 through a port that goes and comes: longest stall $gap ms, $answer"
  json_is "$answer" ".blocks == $blocks and all(.rails[]; .blocks > 0)" "$1"
  ((gap <= $(slow "$STALL_LIMIT_MS"))) || fail "$1 stood still for $gap ms, allowed are $(slow "$STALL_LIMIT_MS")"
}

# both_down: the session ends within its grace period and names the cause; what was acknowledged is there.
both_down() {
  local recording seen started took
  start_job record ports/c0 --source synth --blocks "$BLOCKS" --resume-for 0s
  recording=$(newest_recording)
  seen=$(blocks_moved)
  port_down 0
  port_down 1
  started=$(milliseconds)
  end_job
  took=$(($(milliseconds) - started))
  port_up 0
  port_up 1
  last_json_of "$ANSWER"
  echo "both ports down: the job ended after $took ms: $(jq -c '.error // .' <<<"$LAST_JSON")"
  ((JOB_STATUS != 0)) || fail "the job reports success: $ANSWER"
  ((took < $(slow 15000))) || fail "the job ended only after $took ms"
  expect_error_in "$ANSWER" UNAVAILABLE ALL_RAILS_DOWN
  wait_for 15 is_closed "$recording" || fail "$(tapectl_json recordings show "$recording")"
  json_is "$(tapectl_json recordings show "$recording")" ".durable_watermark >= $seen" "durable blocks"
  is_salvaged "$recording" "$seen" "what was saved"
}

begin_test
# What both ports move in 12 s, by what they move now.
FLAP_BLOCKS=$("$TAPEDECK_BIN/tapedeck-bench" rails --rails "$(IFS=, && echo "${RAILS[*]#*=}")" --blocks 100 2>/dev/null |
  jq '.mb_per_s * 12 | round')
through_flap record READ
through_flap playback WRITE
start_storage
start_worker
CAPACITY=$((BLOCKS * 9 / 4))MiB lun_with_channel memory ports/c0 cf32_le 1MiB
both_down
