#!/usr/bin/env bash
# A job over several storage nodes begins while some of them are away: with those that answer, and a note that names the others,
# which take part once they are back, each as the part that it was to be. With two copies the notes say that there is one meanwhile.
# A node that refuses for good is the whole job's refusal, and so is it that no node is there. A node that hangs takes 5 s, once.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"

grows() { wait_for 20 job_has_more_than $(($(job .blocks) + 50)) || fail "$1 does not go on: $(job)"; }

# stop_job WHAT: all that it had is played. ENDED: what it came to.
stop_job() {
  local played blocks
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
  blocks=$(job .blocks) ENDED=$(job)
  played=$(tapectl_json play l0/c0/latest --sink verify) || fail "$1 does not play: $played"
  json_is "$played" ".blocks == $blocks and .lost_blocks == 0" "playing $1"
}

begin_test
for i in 0 1 2; do
  PORTS[i]=$(free_port)
  ADDRESSES[i]=127.0.0.1:${PORTS[i]}
  start_node "$i"
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
  at "$i" channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
at 0 channel create l0/here --block-bytes 64KiB >/dev/null
start_worker

# The second of three is away, comes while the job runs, and is the second part.
over 0 1 2
kill_service "${PIDS[1]}"
start_job record l0/c0 --source synth:noise=0 --duration 1h --resume-for 60s
wait_for 10 job_has_more_than 100 || fail "it does not begin without a node: $(job)"
job_says PART_AWAY ".part == \"2\" and .parts == \"3\" and .node == \"${ADDRESSES[1]}\"" || fail "nobody says which node is away: $(job)"
! job '.notes | any(.degraded_from != null)' -e || fail "one copy is what was asked for: $(job)"
start_node 1
wait_for 20 job_says PART_BEGINS ".part == \"2\" and .node == \"${ADDRESSES[1]}\"" || fail "it does not begin late: $(job)"
grows "a job over three nodes"
stop_job "what one node began late"
json_is "$(at 1 recordings list l0/c0)" '.recordings[0] | .part.number == 2 and .part.parts == 3 and .state == "SEALED" and .blocks > 0' "a late part"
json_is "$(tapectl_json recordings list l0/c0)" '.recordings | length == 1' "one recording"
echo "a node that was away has its part"

# It stays away: the others have all of it.
kill_service "${PIDS[1]}"
recorded=$(tapectl_json record l0/c0 --source synth --blocks 500) || fail "it does not record without a node: $recorded"
json_is "$recorded" '.blocks == 500 and .lost_blocks == 0 and (.notes | any(.code == "PART_AWAY"))' "a node that stays away"

# With two copies.
over 0 1
start_job record l0/c0 --source synth:noise=0 --copies 2 --duration 1h --resume-for 60s
wait_for 10 job_has_more_than 100 || fail "a mirror does not begin with one node: $(job)"
job_says PART_AWAY ".part == \"2\" and .parts == \"2\" and .node == \"${ADDRESSES[1]}\"" || fail "nobody says which node is away: $(job)"
job_says PART_AWAY '.degraded_from == "0"' || fail "it is not degraded: $(job)"
start_node 1
wait_for 20 job_says PART_BEGINS || fail "the second copy does not begin: $(job)"
grows "a mirror of two nodes"
stop_job "a mirror of which one node began late"
json_is "$ENDED" '.notes | any(.code == "ONE_COPY" and .first_block == "0")' "what has one copy"
late=$(at 1 recordings show l0/c0/latest) early=$(at 0 recordings show l0/c0/latest)
json_is "$late" '.part.number == 2 and .part.copies == 2 and .blocks - .missing_blocks >= 50' "the late copy"
(($(jq .blocks <<<"$late") < $(jq .blocks <<<"$early"))) || fail "nothing has one copy alone: $late"
tapectl repair l0/c0/latest >/dev/null || fail "it is not repaired"
for i in 0 1; do
  json_is "$(at "$i" recordings show l0/c0/latest)" ".blocks == $(jq .blocks <<<"$early") and .missing_blocks == 0" "repaired, node $i"
done
echo "a mirror began with one node, and had two copies from when the other was back"

# One that hangs: the others begin all the same.
kill -STOP "${PIDS[1]}"
began=$SECONDS
recorded=$(tapectl_json record l0/c0 --source synth --copies 2 --blocks 100 --resume-for 1s) || fail "a node that hangs ends it: $recorded"
json_is "$recorded" '.blocks == 100 and .lost_blocks == 0 and (.notes | any(.code == "PART_AWAY" and .degraded_from != null))' "one hangs"
((SECONDS - began < $(slow 30))) || fail "it took $((SECONDS - began)) s"
kill -CONT "${PIDS[1]}"

# What does not pass by itself is refused, and named.
answer=$(tapectl_json record l0/here --source synth --blocks 8) && fail "a channel that one node lacks: $answer"
expect_error_in "$answer" NOT_FOUND CHANNEL_NOT_FOUND
json_is "$answer" ".error.message | contains(\"${ADDRESSES[1]}\")" "which node lacks it"
kill_service "${PIDS[1]}"
over 1 2
kill_service "${PIDS[2]}"
answer=$(tapectl_json record l0/c0 --source synth --blocks 8) && fail "no node is there: $answer"
expect_error_in "$answer" UNAVAILABLE NODE_UNREACHABLE
