# shellcheck shell=bash
# Sourced by kills.sh: jobs over several storage nodes, one part or copy on each.

# shellcheck disable=SC2016
runs_again() { job '.notes | map(select(.code == "PART_GOES_ON")) | length == $times' -e --argjson times "$1"; }

# part_comes_back: the VICTIM takes part again, as often as rounds are over; the notes tell of the first thirty.
part_comes_back() {
  start_node "$VICTIM"
  ((ROUND >= 30)) || wait_for 20 runs_again $((ROUND + 1)) || fail "node $VICTIM does not come back: $(job)"
}

# plays_all WHAT: every block that the job has acknowledged is played.
plays_all() {
  local played sink=verify # knows what synth makes
  ! is_device || sink=null
  BLOCKS=$(job .blocks)
  played=$(tapectl_json play l0/c0/latest --sink "$sink") || fail "$1 does not play: $played"
  json_is "$played" ".blocks == $BLOCKS and .lost_blocks == 0" "playing $1"
}

# parts_are_whole: of a stream over which nodes were killed.
parts_are_whole() {
  local verified exported
  if is_device; then
    end_stream
    json_is "$ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "the job over $KILLS kills"
  else
    cancels
  fi
  verified=$(tapectl_json recordings verify l0/c0/latest) || fail "the parts are damaged: $verified"
  plays_all "a recording after kills"
  exported=$(tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/killed.bin") || fail "no export: $exported"
  json_is "$exported" ".missing_samples == 0 and .samples > ($BLOCKS - 1) * 8192 and .samples <= $BLOCKS * 8192" "an export after kills"
  ! is_device || json_is "$exported" ".samples == $(jq .samples "$WORK/sent.json")" "what the device has sent"
  echo "$BLOCKS blocks, each in some part"
}

# part_is_missing: part 2 of 3 is not there: it is named, its blocks are gaps, and nothing says that all is well.
part_is_missing() {
  local played answer
  played=$(tapectl_json play l0/c0/latest --sink null) && fail "it is whole without a part: $played"
  json_is "$played" ".lost_blocks > 0 and (.notes | any(.code == \"PART_ABSENT\" and .part == \"2\" and .parts == \"3\"))" "a missing part"
  tapectl recordings list l0/c0 2>/dev/null | grep -q 'parts 1, 3 of 3' || fail "the list does not say what is missing"
  answer=$(tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/gaps.bin" 2>/dev/null) && fail "no gap: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  answer=$(tapectl_json recordings verify l0/c0/latest) && fail "verified without a part: $answer"
  return 0
}

part_is_salvaged() {
  at 1 recordings list l0/c0 | grep -q SALVAGED || fail "the lost part is not salvaged: $(at 1 recordings list)"
  plays_all "with the salvaged part"
}

# begins_without PART OF: the job does, which says which node is away, and records.
begins_without() {
  wait_for 10 job_has_more_than 100 || fail "it does not begin without a node: $(job)"
  job_says PART_AWAY ".part == \"$1\" and .parts == \"$2\" and .node == \"${ADDRESSES[1]}\"" || fail "nobody says which node is away: $(job)"
}

# begins_late PART OF: the node is back and gets its part.
begins_late() {
  wait_for 20 job_says PART_BEGINS ".part == \"$1\" and .parts == \"$2\" and .node == \"${ADDRESSES[1]}\"" || fail "it does not begin late: $(job)"
  grows
}

is_not_degraded() { ! job '.notes | any(.degraded_from != null)' -e || fail "one copy is what was asked for: $(job)"; }
is_degraded_from_the_start() {
  job_says PART_AWAY '.degraded_from == "0"' || fail "it is not degraded: $(job)"
}

late_part_is_there() {
  json_is "$(at 1 recordings list l0/c0)" '.recordings[0] | .part.number == 2 and .part.parts == 3 and .state == "SEALED" and .blocks > 0' "a late part"
  json_is "$(tapectl_json recordings list l0/c0)" '.recordings | length == 1' "one recording"
}

# records_without_it: the others have all of it.
records_without_it() {
  local recorded
  recorded=$(tapectl_json record l0/c0 --source synth --blocks 500) || fail "it does not record without a node: $recorded"
  json_is "$recorded" '.blocks == 500 and .lost_blocks == 0 and (.notes | any(.code == "PART_AWAY"))' "a node that stays away"
}

# one_copy_was_told: the job that has ended says what the first node alone has.
one_copy_was_told() {
  json_is "$(job)" '.notes | any(.code == "ONE_COPY" and .first_block == "0")' "what has one copy"
}

# late_copy_is_mended: a repair gives the other node what it lacks.
late_copy_is_mended() {
  local late early i
  late=$(at 1 recordings show l0/c0/latest) early=$(at 0 recordings show l0/c0/latest)
  json_is "$late" '.part.number == 2 and .part.copies == 2 and .blocks - .missing_blocks >= 50' "the late copy"
  (($(jq .blocks <<<"$late") < $(jq .blocks <<<"$early"))) || fail "nothing has one copy alone: $late"
  tapectl repair l0/c0/latest >/dev/null || fail "it is not repaired"
  for i in 0 1; do
    json_is "$(at "$i" recordings show l0/c0/latest)" ".blocks == $(jq .blocks <<<"$early") and .missing_blocks == 0" "repaired, node $i"
  done
}

nobody_records() {
  local answer
  answer=$(tapectl_json record l0/c0 --source synth --blocks 8) && fail "no node is there: $answer"
  expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
}
