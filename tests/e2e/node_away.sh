#!/usr/bin/env bash
# A job over several storage nodes begins while one of them hangs, which takes 5 s, once: with those that answer, and a note that names
# the other. A node that refuses for good is the whole job's refusal. Nodes that are not there are the matter of kills.sh.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"

begin_test
for i in 0 1; do
  PORTS[i]=$(free_port)
  ADDRESSES[i]=127.0.0.1:${PORTS[i]}
  start_node "$i"
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
  at "$i" channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
at 0 channel create l0/here --block-bytes 64KiB >/dev/null
start_worker
over 0 1

kill -STOP "${PIDS[1]}"
began=$SECONDS
recorded=$(tapectl_json record l0/c0 --source synth --copies 2 --blocks 100 --resume-for 1s) || fail "a node that hangs ends it: $recorded"
json_is "$recorded" '.blocks == 100 and .lost_blocks == 0 and (.notes | any(.code == "PART_AWAY" and .degraded_from != null))' "one hangs"
((SECONDS - began < $(slow 30))) || fail "it took $((SECONDS - began)) s"
kill -CONT "${PIDS[1]}"

answer=$(tapectl_json record l0/here --source synth --blocks 8) && fail "a channel that one node lacks: $answer"
expect_error_in "$answer" NOT_FOUND CHANNEL_NOT_FOUND
json_is "$answer" ".error.message | contains(\"${ADDRESSES[1]}\")" "which node lacks it"
