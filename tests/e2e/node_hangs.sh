#!/usr/bin/env bash
# A storage node of a job hangs (kill -STOP) for some seconds while a device that does not wait is recorded. Of three nodes the
# others have its blocks after a second, so that no sample is lost with the default ring; of a mirror's two nodes the other one
# alone counts meanwhile, which the notes say, with a ring of two seconds. When it goes on it gets blocks again.
#   node_hangs.sh [SECONDS]    so long it hangs; default 5
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"
# shellcheck source=tests/e2e/ingest_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

LASTS=${1:-5}
answers_again() { job_says PART_ANSWERS || { ((!SHORT)) && job_says PART_GOES_ON; }; }

# record_while_one_hangs I RATE: what is recorded while that node hangs and afterwards. ANSWER: the job at its end.
record_while_one_hangs() {
  local sender blocks stopped
  begin_ingest "udp=127.0.0.1:0,timeout=30"
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate "$2" --duration 1h --packet-bytes 1024 >"$WORK/sent.json" &
  sender=$!
  wait_for 20 job_has_more_than 200 || fail "it does not record: $(job)"
  kill -STOP "${PIDS[$1]}"
  stopped=$(milliseconds)
  sleep "$LASTS"
  DURING=$(job)
  kill -CONT "${PIDS[$1]}"
  # A session outlives that, unless this script came back much later: its rails are given 10 s.
  SHORT=$(($(milliseconds) - stopped < LASTS * 1000 + 2000))
  wait_for 20 answers_again || fail "nobody says that it answers again: $(job)"
  blocks=$(job .blocks)
  wait_for 20 job_has_more_than $((blocks + 300)) || fail "it does not go on: $(job)"
  kill -INT "$sender" # it sends the end of the stream
  wait "$sender" || fail "the emulator failed"
  end_ingest
  json_is "$ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "the job over a node that hung"
  EXPORTED=$(tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/hung.bin") || fail "no export: $EXPORTED"
  json_is "$EXPORTED" ".missing_samples == 0 and .samples == $(jq .samples "$WORK/sent.json")" "what the device has sent"
  rm "$WORK/hung.bin"
}

begin_test
for i in 0 1 2; do
  PORTS[i]=$(free_port)
  ADDRESSES[i]=127.0.0.1:${PORTS[i]}
  start_service "$WORK/storage$i.log" "${PORTS[i]}" "$TAPEDECK_BIN/tapedeck-storage" --listen "${ADDRESSES[i]}" \
    --state "$WORK/state$i" "${STORAGE_RAILS[@]}"
  PIDS[i]=$SERVICE_PID
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
  at "$i" channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
start_worker

over 0 1 2
RECORD_OPTIONS=(--resume-for 60s)
record_while_one_hangs 1 32MB
json_is "$DURING" '.notes | any(.code == "PART_SILENT" and .part == "2" and .parts == "3")' "who says that it hangs"
((!SHORT)) || json_is "$(job)" '.notes | any(.code == "PART_LOST") | not' "its session outlives that"
json_is "$(at 1 recordings show l0/c0/latest)" '.state == "SEALED" and .blocks > 100' "the part of the node that hung"
echo "three nodes of which one hung for $LASTS s: no sample is lost"

over 0 1
RECORD_OPTIONS=(--resume-for 60s --copies 2 --slots 512) # two seconds
record_while_one_hangs 1 16MB
json_is "$DURING" '.notes | any(.code == "PART_SILENT" and .part == "2" and .parts == "2" and .degraded_from != null)' "one copy meanwhile"
json_is "$(at 0 recordings show l0/c0/latest)" '.state == "SEALED" and .missing_blocks == 0' "the copy of the node that went on"
tapectl repair l0/c0/latest >/dev/null || fail "it is not repaired"
for i in 0 1; do
  json_is "$(at "$i" recordings verify l0/c0/latest)" '.damaged == []' "repaired, node $i"
  json_is "$(at "$i" recordings show l0/c0/latest)" ".blocks == $(at 0 recordings show l0/c0/latest | jq .blocks)" "all, node $i"
done
echo "a mirror of two nodes of which one hung for $LASTS s: no sample is lost"

# What is played from one copy comes from the other while the node of the first hangs, whichever that is.
for i in 0 1; do
  start_job play l0/c0/latest --sink null --rate 4
  wait_for 20 job_has_more_than 300 || fail "it does not play: $(job)"
  kill -STOP "${PIDS[i]}"
  blocks=$(job .blocks)
  wait_for 8 job_has_more_than $((blocks + 800)) || fail "node $i holds up a playback of two copies: $(job)"
  kill -CONT "${PIDS[i]}"
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
done
echo "a playback of two copies goes on while either node hangs"
