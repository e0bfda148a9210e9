#!/usr/bin/env bash
# Four channels as one group, by two workers into two storage nodes: all begin at one instant, so that sample k of each is of the same
# time. A worker that is stopped over the instant is late by exactly the blocks that it says are missing; one that is killed takes its
# own members along and no other. The group is listed, played aligned to the sample and exported as a SigMF collection.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

SIGMF=$(dirname "${BASH_SOURCE[0]}")/sigmf
SCHEMAS=$DATA/sigmf-schema
RATE=1000000
BLOCK_BYTES=65536 SAMPLE_BYTES=8 BLOCKS=300

# start_second_worker: WORKER2 is its address, its process WORKER2_PID.
start_second_worker() {
  local port
  port=$(free_port)
  WORKER2=127.0.0.1:$port
  start_service "$WORK/worker2.log" "$port" "$TAPEDECK_BIN/tapedeck-worker" --listen "$WORKER2" --device host "${WORKER_RAILS[@]}"
  WORKER2_PID=$SERVICE_PID
}

# record_group NAME ARGUMENT...: of all four channels, two by each worker; channel ci lies on node i % 2.
record_group() {
  tapectl_json record --group "$1" "${@:2}" \
    --member "$TAPEDECK_WORKER=$FIRST/l0/c1" --member "$TAPEDECK_WORKER=$SECOND/l0/c2" \
    --member "$WORKER2=$FIRST/l0/c3" --member "$WORKER2=$SECOND/l0/c4,synth:seed=9"
}

# of_member GROUP NUMBER FIELD: of its recording.
of_member() {
  tapectl_json recordings list --group "$1" | jq -r ".recordings[] | select(.group.number == $2).$3"
}

# late_blocks GROUP NUMBER: that it says are missing.
late_blocks() {
  tapectl_json recordings list --group "$1" | jq ".recordings[] | select(.group.number == $2).missing_blocks"
}

begin_test
start_storage
FIRST=$TAPEDECK_STORAGE
port=$(free_port)
SECOND=127.0.0.1:$port
start_service "$WORK/storage2.log" "$port" "$TAPEDECK_BIN/tapedeck-storage" --listen "$SECOND" --state "$WORK/state2" "${STORAGE_RAILS[@]}"
SECOND_PID=$SERVICE_PID
start_worker
start_second_worker
for node in "$FIRST" "$SECOND"; do
  mkdir -p "$WORK/member-$node"
  tapectl --storage "$node" lun create l0 --store posix --member "$WORK/member-$node" --capacity 16GiB >/dev/null
  for channel in c1 c2 c3 c4; do
    tapectl --storage "$node" channel create "l0/$channel" --datatype cf32_le --block-bytes $BLOCK_BYTES --sample-rate $RATE >/dev/null
  done
done
export TAPEDECK_STORAGE=$FIRST,$SECOND

# All are there in time, which a machine that has other tests to run gets more of.
recorded=$(record_group even --source synth:seed=%m --start-in "$(slow 3)s" --blocks $BLOCKS) || fail "the group does not record: $recorded"
json_is "$recorded" ".jobs | length == 4 and all(.blocks == $BLOCKS and .lost_blocks == 0)" "four members"
json_is "$recorded" '[.jobs[].group] | unique | length == 1' "one group"
json_is "$recorded" '.jobs | all(.timing.after_at_s >= 0)' "none began before the instant"
json_is "$recorded" '.jobs | all(.notes | any(.code == "GROUP_MEMBER" and .group == "even" and .clock_error_ns != null))' "each says how good its clock is"
listed=$(tapectl_json recordings list --group even)
json_is "$listed" '[.recordings[].group | [.number, .members]] | sort == [[1, 4], [2, 4], [3, 4], [4, 4]]' "the members"
json_is "$listed" '[.recordings[].group.starts_at] | unique | length == 1' "one instant"
json_is "$listed" '.recordings | all(.group | (.clock | startswith("system")) and .clock_error_s > 0)' "the clocks"
played=$(tapectl_json play --group even --sink verify) || fail "the group does not play: $played"
json_is "$played" ".jobs | length == 4 and all(.blocks == $BLOCKS and .lost_blocks == 0)" "playing it"

# The second worker is stopped over the instant: what it did not have is missing, what follows is where it belongs.
instant=$(($(date +%s) + $(slow 4)))
record_group late --source synth:seed=5,noise=0 --at "$(date -u -d "@$instant" +%FT%TZ)" --blocks $BLOCKS >"$WORK/late.json" 2>"$WORK/late.log" &
LATE_PID=$!
both_wait() { tapectl_json --worker "$WORKER2" jobs list | jq -e '[.jobs[] | select(.state == "RUNNING" or .state == "STARTING")] | length == 2'; }
wait_for 10 both_wait || fail "the second worker has no jobs"
is_from_instant() { (($(milliseconds) >= instant * 1000 + $1)); } # MILLISECONDS
wait_for 60 is_from_instant -1000 # a worker that is stopped for long loses its sessions
kill -STOP "$WORKER2_PID"
! is_from_instant 0 || fail "the second worker's jobs were there after the instant only"
wait_for 60 is_from_instant 300
kill -CONT "$WORKER2_PID"
wait "$LATE_PID" || true
late=$(late_blocks late 3)
((late > 10 && late < BLOCKS - 10)) || fail "the late member has $late missing blocks: $(cat "$WORK/late.json" "$WORK/late.log")"
[[ $(late_blocks late 1) == 0 ]] || fail "a member that was in time has a gap"
tapectl play --group late --sink "file:$WORK/played-%m.bin" >/dev/null 2>&1 && fail "a gap is no gap"
mv "$WORK"/played-3.bin.part-* "$WORK/played-3.bin" || fail "the late member's file is not left"
for member in 1 3; do
  (($(stat -c %s "$WORK/played-$member.bin") == BLOCKS * BLOCK_BYTES)) || fail "member $member has $(stat -c %s "$WORK/played-$member.bin") bytes"
done
gap=$((late * BLOCK_BYTES))
cmp -n $gap "$WORK/played-3.bin" /dev/zero || fail "the late member's gap is not as long as it says"
cmp -i $gap "$WORK/played-1.bin" "$WORK/played-3.bin" || fail "the members are not aligned behind the gap"
other=$(late_blocks late 4) # of the same worker
from=$(((late > other ? late : other) * BLOCK_BYTES / SAMPLE_BYTES + 1234))
tapectl play --group late --sink "file:$WORK/cut-%m.bin" --from-sample $from --to-sample $((from + 20000)) --rate recorded >/dev/null ||
  fail "the members do not play from a sample on"
cmp "$WORK/cut-1.bin" "$WORK/cut-3.bin" || fail "from sample $from on the members are not aligned"
cmp -i $((from * SAMPLE_BYTES)):0 -n $((20000 * SAMPLE_BYTES)) "$WORK/played-1.bin" "$WORK/cut-1.bin" || fail "it is another sample than $from"

tapectl --storage "$FIRST" recordings update "$(tapectl_json recordings list --group late | jq -r '.recordings[] | select(.group.number == 1).name')" --label site=north >/dev/null
[[ $(of_member late 1 labels.site) == north ]] || fail "an update has taken a member from its group"

# The same, as a collection.
exported=$(tapectl_json recordings export --group late --format sigmf --to "$WORK/out") || fail "no collection: $exported"
json_is "$exported" ".streams | length == 4 and all(.samples == $((BLOCKS * BLOCK_BYTES / SAMPLE_BYTES)))" "the streams"
for member in 1 3; do cmp "$WORK/out/late-$member.sigmf-data" "$WORK/played-$member.bin" || fail "member $member is exported otherwise"; done
json_is "$(cat "$WORK/out/late-3.sigmf-meta")" \
  ".global[\"core:collection\"] == \"late\" and (.captures[0] | .[\"core:sample_start\"] == $((gap / SAMPLE_BYTES)) and .[\"core:global_index\"] == $((gap / SAMPLE_BYTES)))" "where the late member's samples are"
for member in 1 2 3 4; do
  hash=$(sha512sum "$WORK/out/late-$member.sigmf-meta" | cut -d' ' -f1)
  json_is "$(cat "$WORK/out/late.sigmf-collection")" ".collection[\"core:streams\"][$((member - 1))] == [\"late-$member\", \"$hash\"]" "the hash of member $member"
done
tapectl recordings export --group late --format sigmf --to "$WORK/out" >/dev/null 2>&1 && fail "an export replaces what is there"
tapectl recordings export --group late --format wav --to "$WORK/out2" >/dev/null 2>&1 && fail "a collection of another format"

# What comes over the network begins at the instant, too: what was sent before is nobody's. Where this machine does not come to
# send before the instant, the instant comes later.
heard_some() { job '.blocks > 0' -e; }
first_number=1
for seconds in 2 8 32; do
  before=$(job '.name // ""')
  tapectl_json record --group "heard$seconds" --source ingest:udp=127.0.0.1:0 --start-in ${seconds}s --member "$TAPEDECK_WORKER=$FIRST/l0/c1" >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 15 is_listening "$before" || fail "nobody listens: $(cat "$WORK/job.json" "$WORK/job.log")"
  is_listening "$before"
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate 8MB --duration 1h --packet-bytes 32768 >"$WORK/sent.json" &
  SENDER=$!
  wait_for $((seconds + 15)) heard_some || fail "nothing is heard: $(job)"
  kill -INT "$SENDER" # it sends the end of the stream
  wait "$SENDER" || fail "the emulator failed"
  end_job
  ((JOB_STATUS == 0)) || fail "what is heard is not recorded: $ANSWER"
  tapectl play --group "heard$seconds" --sink "file:$WORK/heard-%m.bin" --replace >/dev/null || fail "what is heard does not play"
  first_number=$(od -An -tu8 -N8 "$WORK/heard-1.bin" | tr -d ' ') # a sample is its number, from 1 on
  echo "sent $(<"$WORK/sent.json"); recorded from sample $first_number on"
  ((first_number == 1)) || break
done
((first_number > 1)) || fail "what was sent before the instant is recorded"
json_is "$ANSWER" '.jobs[0].timing.after_at_s >= 0' "none of it before the instant"

# By both workers, each with two members: at one instant, by a clock of which each says how good it is.
by_both() { # ARGUMENT...: plays the group late so
  tapectl_json play --group late --start-in "$(slow 1)s" --from-sample $from --to-sample $((from + 20000)) --rate recorded \
    --member "$TAPEDECK_WORKER=1,4" --member "$WORKER2=3,2" "$@"
}
late_s=$(slow 1)
played=$(by_both --sink "file:$WORK/both-%m.bin") || fail "two workers do not play the group: $played"
json_is "$played" ".jobs | length == 4 and all(.timing.after_at_s | . >= 0 and . < $late_s)" "none before the instant, nor much later"
json_is "$played" '.jobs | all(.notes | any(.code == "BEGINS_BY_CLOCK"))' "each says how good its clock is"
for worker in "$TAPEDECK_WORKER" "$WORKER2"; do
  json_is "$(tapectl_json --worker "$worker" jobs list)" '[.jobs[0:2][] | select(.direction == "PLAYBACK" and .state == "SUCCEEDED")] | length == 2' "two of $worker"
done
for member in 1 3; do cmp "$WORK/both-$member.bin" "$WORK/cut-1.bin" || fail "member $member is not aligned where two workers play"; done
tapectl play --group late --member "$TAPEDECK_WORKER=1,2" --sink null >/dev/null 2>"$WORK/refused" && fail "nobody plays members 3 and 4"
grep -q "no --member names a worker for member 3" "$WORK/refused" || fail "it is not said who is missing: $(cat "$WORK/refused")"

# Packets that say when their samples were taken are cut at the instant by that, to the sample, whenever and in whatever packets
# they come: two devices on one clock, of which one sends half a second late.
before=$(job '.name // ""')
for node in "$FIRST" "$SECOND"; do
  tapectl --storage "$node" channel create l0/timed --datatype cf32_be --block-bytes $BLOCK_BYTES --sample-rate $RATE >/dev/null
done
tapectl_json record --group timed --source ingest:udp=127.0.0.1:0,packets=vita49 --start-in "$(slow 2)s" --blocks 100 \
  --member "$TAPEDECK_WORKER=$FIRST/l0/timed" --member "$WORKER2=$SECOND/l0/timed" >"$WORK/job.json" 2>"$WORK/job.log" &
JOB_PID=$!
begun=$(date +%s%N)
both_listen() {
  is_listening "$before" && PORT2=$(tapectl_json --worker "$WORKER2" jobs list |
    jq -re '[.jobs[] | select(.end_time == null)][0].notes[] | select(.code == "INGEST_LISTENS").port')
}
wait_for 15 both_listen || fail "they do not listen: $(cat "$WORK/job.json" "$WORK/job.log")"
both_listen
# device PORT PACKET_BYTES: sends until it is killed; in the background.
device() { exec "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$1" --packets vita49 --sample-rate $RATE --begin-ns "$begun" --rate 8MB --duration 1h --packet-bytes "$2"; }
device "$PORT" 8192 >/dev/null &
DEVICES=($!)
sleep 0.5
device "$PORT2" 2864 >/dev/null &
DEVICES+=($!)
end_job
for pid in "${DEVICES[@]}"; do kill "$pid" 2>/dev/null || true; done
((JOB_STATUS == 0)) || fail "what says when it was taken is not recorded: $ANSWER"
json_is "$ANSWER" '.jobs | all(.notes | any(.code == "INGEST_COUNTS" and (.early // "0" | tonumber) > 0))' "nobody says what was left out"
instant=$(date -d "$(of_member timed 1 group.starts_at)" +%s%N)
due=$(((instant - begun + 999) / 1000 + 1)) # a sample is a microsecond, and is its number and 1
tapectl play --group timed --sink "file:$WORK/timed-%m.bin" >/dev/null || fail "the timed group does not play"
for member in 1 2; do
  [[ $(od -An -tu8 -N8 "$WORK/timed-$member.bin" | tr -d ' ') == "$due" ]] ||
    fail "member $member begins with sample $(od -An -tu8 -N8 "$WORK/timed-$member.bin"), not $due"
done
cmp "$WORK/timed-1.bin" "$WORK/timed-2.bin" || fail "two devices on one clock are not aligned"

# A killed worker: its members end, and are named; the others go on.
start_job record --group dies --source synth:noise=0 --slots 2 --start-in "$(slow 1)s" --duration 1h \
  --member "$TAPEDECK_WORKER=$FIRST/l0/c1" --member "$WORKER2=$SECOND/l0/c4"
kill_service "$WORKER2_PID"
before=$(job .blocks)
others_go_on() { job ".state == \"RUNNING\" and .blocks > $before + 50" -e; }
wait_for 20 others_go_on || fail "the other member does not go on: $(job)"
stop_job
((JOB_STATUS != 0)) || fail "nobody says that a member died: $ANSWER"
json_is "$ANSWER" '.jobs[0].state == "SUCCEEDED" and .jobs[0].lost_blocks == 0 and .jobs[1].state == "FAILED"' "who died"
json_is "$ANSWER" '.jobs[1].error.message | contains("member 2 of 2 of dies")' "the name of who died"
wait_for 30 is_closed "$(tapectl_json recordings list --group dies | jq -r '.recordings[] | select(.group.number == 2).name')" ||
  fail "the dead member's recording is not closed"
# A worker that answers nothing holds nobody up, and Ctrl-C reaches the others.
start_second_worker
kill -STOP "$WORKER2_PID"
start_job record --group mute --source synth:noise=0 --slots 2 --start-in "$(slow 1)s" --duration 600s --member "$TAPEDECK_WORKER=$FIRST/l0/c1" --member "$WORKER2=$SECOND/l0/c4"
mute_goes() { tapectl_json jobs list | jq -e '.jobs[0] | .state == "RUNNING" and .blocks > 0'; }
wait_for 20 mute_goes >/dev/null || fail "the other member does not go on"
kill -INT "$(pgrep -P "$JOB_PID" tapectl)"
# Cancelled while the mute one is still asked to begin, stopped if that has been given up.
mute_ended() { tapectl_json jobs list | jq -e '.jobs[0].state | . == "CANCELLED" or . == "SUCCEEDED"'; }
wait_for 20 mute_ended >/dev/null || fail "Ctrl-C does not reach it"
kill -CONT "$WORKER2_PID"
end_job
((JOB_STATUS != 0)) || fail "nobody says that it was cancelled"
all_ended() { tapectl_json --worker "$WORKER2" jobs list | jq -e 'all(.jobs[]; .end_time != null)'; }
wait_for 20 all_ended >/dev/null || fail "the one that came back goes on: $(tapectl_json --worker "$WORKER2" jobs list)"
# One that cannot begin.
answer=$(tapectl_json record --group half --source synth --start-in "$(slow 1)s" --blocks 8 \
  --member "$TAPEDECK_WORKER=$FIRST/l0/c1" --member "$TAPEDECK_WORKER=$SECOND/l0/none") && fail "it has begun: $answer"
json_is "$answer" '.jobs[0].state == "SUCCEEDED" and (.jobs[1].error.message | contains("member 2 of 2 of half"))' "who cannot begin"
[[ $(of_member half 1 group.name) == half ]] || fail "the other one is not kept"

# A label makes no recording a member.
even=$(of_member even 2 group.id)
tapectl_json record --group even --source synth --start-in "$(slow 1)s" --blocks 8 --member "$TAPEDECK_WORKER=$FIRST/l0/c1" >/dev/null || fail "a second group of that name"
tapectl play --group even --sink null 2>"$WORK/refused" >/dev/null || fail "the newest group is not played: $(cat "$WORK/refused")"
grep -q "2 groups are called even; taking the newest" "$WORK/refused" || fail "nobody says which group it was: $(cat "$WORK/refused")"
json_is "$(tapectl_json play --group "$even" --sink null)" '.jobs | length == 4' "the older one, by its ID"
tapectl --storage "$FIRST" channel create l0/forged --datatype cf32_le --block-bytes $BLOCK_BYTES --sample-rate $RATE >/dev/null
tapectl --storage "$FIRST" record l0/forged --source synth --blocks 4 >/dev/null
tapectl --storage "$FIRST" recordings update l0/forged/latest --label "group=$even" --label group_name=even --label group_member=2/4 >/dev/null
json_is "$(tapectl_json recordings list --group "$even")" '.recordings | length == 4' "a label has made a member"

# What cannot be.
member=$TAPEDECK_WORKER=$FIRST/l0/c1
tapectl record --group x --source synth --blocks 8 --member "$member" --member "$member" >/dev/null 2>"$WORK/refused" && fail "a channel of two members"
grep -q "two members record into $FIRST/l0/c1" "$WORK/refused" || fail "$(cat "$WORK/refused")"
many=()
for _ in {1..65}; do many+=(--member "$member"); done
tapectl record --group x --source synth --blocks 8 "${many[@]}" >/dev/null 2>"$WORK/refused" && fail "65 members"
grep -q "1 to 64 members" "$WORK/refused" || fail "$(cat "$WORK/refused")"
for name in '' - ../x a/b $'a\nb' $'\e[31m' $'\xff' "$(printf 'x%.0s' {1..64})"; do
  tapectl record --group "$name" --source synth --blocks 8 --member "$member" >/dev/null 2>"$WORK/refused" && fail "a group called $name"
  LC_ALL=C grep -q $'[\xff\x1b]' "$WORK/refused" && fail "strange bytes reach the terminal: $(cat -v "$WORK/refused")"
  tapectl play --group "$name" --sink null >/dev/null 2>"$WORK/refused" && fail "a group called $name plays"
  LC_ALL=C grep -q $'[\xff\x1b]' "$WORK/refused" && fail "strange bytes reach the terminal: $(cat -v "$WORK/refused")"
done
for text in $'w:1=\e[31m:1/l0' $'\xff=x' "$(printf 'x%.0s' {1..5000})"; do
  tapectl record --group x --source synth --blocks 8 --member "$text" >/dev/null 2>"$WORK/refused" && fail "a member called $text"
  (($(stat -c %s "$WORK/refused") < 1000)) || fail "a long name is said at length"
  LC_ALL=C grep -q $'[\xff\x1b]' "$WORK/refused" && fail "strange bytes reach the terminal: $(cat -v "$WORK/refused")"
done
answer=$(tapectl_json record --group x --source synth --blocks 8 --start-in 25h --member "$member") && fail "an instant that is far"
json_is "$answer" '.jobs[0].error | .reason == "ARGUMENT_INVALID" and .metadata.field == "at"' "an instant that is far"
answer=$(tapectl_json record --group x --source synth --blocks 8 --at 2020-01-01T00:00:00Z --member "$TAPEDECK_WORKER=$FIRST/l0/c1") && fail "the past: $answer"
json_is "$answer" '.jobs[0].error | .reason == "ARGUMENT_INVALID" and .metadata.field == "at"' "an instant that has passed"
tapectl --storage "$FIRST" channel create l0/slow --block-bytes $BLOCK_BYTES >/dev/null
answer=$(tapectl_json record --group x --source synth --blocks 8 --member "$TAPEDECK_WORKER=$FIRST/l0/slow") && fail "no rate: $answer"
json_is "$answer" '.jobs[0].error | .reason == "ARGUMENT_INVALID" and .metadata.field == "group"' "a channel without a rate"
tapectl record --group x --source synth --blocks 8 --member nowhere/l0/c1 >/dev/null 2>&1 && fail "a member without a worker"
tapectl play --group nobody --sink null >/dev/null 2>&1 && fail "a group that is not there"

# A node that dies between the opening and the instant: its member ends, and is named; the other is whole.
tapectl_json record --group lost --source synth:noise=0 --start-in "$(slow 2)s" --blocks $BLOCKS --resume-for 1s \
  --member "$TAPEDECK_WORKER=$FIRST/l0/c1" --member "$WORKER2=$SECOND/l0/c4" >"$WORK/job.json" 2>"$WORK/job.log" &
JOB_PID=$!
both_recorded() { tapectl_json recordings list --group lost | jq -e '.recordings | length == 2'; }
wait_for 10 both_recorded >/dev/null || fail "they do not open: $(cat "$WORK/job.log")"
kill_service "$SECOND_PID"
end_job
json_is "$ANSWER" '.jobs[0].state == "SUCCEEDED" and .jobs[0].lost_blocks == 0 and .jobs[1].state == "FAILED"' "whose node died"
json_is "$ANSWER" '.jobs[1].error.message | contains("member 2 of 2 of lost")' "the name of whose node died"
json_is "$(tapectl_json play --group lost --sink null 2>"$WORK/told")" '.jobs | length == 1' "what there is plays"
grep -q "member 2 of 2 of lost is on none of the nodes" "$WORK/told" || fail "nobody says what is not there: $(cat "$WORK/told")"

with_packages "$SIGMF" ajv
node "$SIGMF/validate.js" "$SCHEMAS/sigmf-schema.json" "$WORK"/out/*.sigmf-meta || fail "a meta does not keep to SigMF's schema"
node "$SIGMF/validate.js" "$SCHEMAS/collection-schema.json" "$WORK/out/late.sigmf-collection" || fail "the collection does not keep to SigMF's"
