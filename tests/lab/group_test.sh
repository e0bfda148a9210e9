#!/usr/bin/env bash
# A group of four channels by two workers on two machines, each with a clock of its own: they are set 50 µs apart, drift against
# each other, and are measured against the host's clock before and after (clocks/). Each worker's stated error is true; sample 0 of
# each member was due at the same instant within what both state; the group plays aligned to the sample, and the collection fits SigMF's
# schema. Three times: with clocks that somebody keeps and bounds, that somebody keeps and says are right, and that nobody keeps.
set -Eeuo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/two_vms.sh"
TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BIN=${TAPEDECK_BIN:-$TESTS/../build/bin}
DATA=${TAPEDECK_DATA:-$TESTS/../../shared/data}
# A block is a second: a machine that wakes its threads late leaves few out.
RATE=8192 BLOCK_BYTES=65536 BLOCKS=12
HALF_BYTES=$((6 * BLOCK_BYTES))
APART_NS=50000
declare -A WORKER_JOB=() HOLDER=() STEP=([a]=0 [b]=$APART_NS) DRIFT=([a]=-4 [b]=7) NATURAL=() BEFORE=() AFTER=()

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  tail -qn 20 "${NODE:-/dev/null}/stderr" "${WORKER_JOB[a]:-/dev/null}/stderr" "${WORKER_JOB[b]:-/dev/null}/stderr" >&2 || true
  exit 1
}

ctl() { on a "$BIN/tapectl" --output json --storage 10.0.0.1:7402 --worker 10.9.0.1:7502 "$@"; }

is_true() { if [[ -z $1 ]] || ! jq -e "$2" >/dev/null <<<"$1"; then fail "$3: not ($2) in $1"; fi; }

# clock_of VM: against the host's, which answers meanwhile.
clock_of() {
  local answering status=0
  "$BIN/tapedeck-lab-clocks" answer "$VM_WORK/shared" &
  answering=$!
  on "$1" "$BIN/tapedeck-lab-clocks" ask "${VM_HOST[$1]}" || status=$?
  kill "$answering"
  wait "$answering" 2>/dev/null || true
  return "$status"
}

steer() { on "$1" "$BIN/tapedeck-lab-clocks" steer "${@:2}" || fail "the clock of $1 cannot be set"; }

# by_itself VM: NATURAL is how fast its clock goes by itself, in ppm against the host's.
by_itself() {
  local first second
  steer "$1" 0 0
  first=$(clock_of "$1")
  sleep 10
  second=$(clock_of "$1")
  NATURAL[$1]=$(jq -n "($second.ahead_ns - $first.ahead_ns) / ($second.at_ns - $first.at_ns) * 1e6")
}

# set_clock VM [MOST_ERROR_US]: STEP ahead of the host's, with its DRIFT.
set_clock() {
  local now
  now=$(clock_of "$1")
  steer "$1" "$(jq "${STEP[$1]} - .ahead_ns" <<<"$now")" "$(jq -n "${DRIFT[$1]} - ${NATURAL[$1]}")" "${@:2}"
}

# true_at VM INSTANT_NS: how far its clock was from the host's then, by a line through both measurements; and how sure that is.
true_at() {
  jq -nc "${BEFORE[$1]} as \$b | ${AFTER[$1]} as \$a | (($2 - \$b.at_ns) / (\$a.at_ns - \$b.at_ns)) as \$f |
    {ahead_ns: (\$b.ahead_ns + \$f * (\$a.ahead_ns - \$b.ahead_ns) | round), uncertainty_ns: ([\$b.uncertainty_ns, \$a.uncertainty_ns] | max),
     drift_ppm: ((\$a.ahead_ns - \$b.ahead_ns) / (\$a.at_ns - \$b.at_ns) * 1e8 | round / 100)}"
}

start_worker() {
  start_on "$1" "$BIN/tapedeck-worker" --insecure --listen 0.0.0.0:7502 --device host --file-root write:/tmp \
    --rail "r0=tcp:10.0.0.${VM_HOST[$1]}" --rail "r1=tcp:10.0.1.${VM_HOST[$1]}"
  WORKER_JOB[$1]=$JOB
  guest "$1" await_listener tcp 7502
}

# record_group NAME CLOCK: with clocks as they are set. LISTED is what is recorded; each worker says CLOCK.
record_group() {
  local vm number members=() answer
  for number in 1 2 3 4; do
    vm=$([[ $number -le 2 ]] && echo a || echo b)
    members+=(--member "10.9.0.${VM_HOST[$vm]}:7502=10.0.0.1:7402/l2/c$number")
  done
  for vm in a b; do BEFORE[$vm]=$(clock_of "$vm"); done
  answer=$(ctl record --group "$1" --source synth:seed=5,noise=0 --start-in 6s --blocks $BLOCKS "${members[@]}") || true
  for vm in a b; do AFTER[$vm]=$(clock_of "$vm"); done
  is_true "$answer" ".jobs | length == 4 and all(.blocks == $BLOCKS and .timing.after_at_s >= 0)" "four members, none before the instant"
  LISTED=$(ctl recordings list --group "$1")
  is_true "$LISTED" ".recordings | length == 4 and all(.group.clock == \"$2\")" "what the clocks are"
  is_true "$LISTED" '[.recordings[].group.starts_at] | unique | length == 1' "one instant"
  echo "$1: $(jq -c '[.jobs[] | {blocks, lost_blocks, after_at_s: .timing.after_at_s}]' <<<"$answer")"
}

# check_clocks NAME: what was stated of them is true.
check_clocks() {
  local vm instant stated truth=()
  instant=$(date -d "$(jq -r '.recordings[0].group.starts_at' <<<"$LISTED")" +%s%N)
  stated=$(jq -c '[.recordings | sort_by(.group.number)[].group.clock_error_s * 1e9 | round]' <<<"$LISTED")
  for vm in a b; do truth+=("$(true_at "$vm" "$instant")"); done
  echo "$1: stated errors of members 1 to 4, ns: $stated; true of a: ${truth[0]}, of b: ${truth[1]}"
  is_true "$stated" ". as \$s | ${truth[0]} as \$a | ${truth[1]} as \$b |
    ([0, 1] | all(\$s[.] >= (\$a.ahead_ns | fabs) + \$a.uncertainty_ns)) and ([2, 3] | all(\$s[.] >= (\$b.ahead_ns | fabs) + \$b.uncertainty_ns)) and
    \$s[0] + \$s[2] >= (\$a.ahead_ns - \$b.ahead_ns | fabs) + \$a.uncertainty_ns + \$b.uncertainty_ns" "a worker states less than its clock is off"
  is_true "${truth[1]}" "${truth[0]} as \$a | .ahead_ns - \$a.ahead_ns > 10000 and .drift_ppm > \$a.drift_ppm + 5 and
    .uncertainty_ns < 25000 and \$a.uncertainty_ns < 25000" "the clocks are not apart, do not drift, or are not known well"
}

# check_samples NAME: the members have the same samples, so that those of one time are the same wherever they are played.
check_samples() {
  local number out=/tmp/played-$1 late bytes=$((BLOCKS * BLOCK_BYTES))
  ctl play --group "$1" --sink "file:$out-%m.bin" >/dev/null || true
  for number in 1 2 3 4; do
    late=$(jq ".recordings[] | select(.group.number == $number).missing_blocks" <<<"$LISTED")
    ((late < BLOCKS / 2)) || fail "member $number lacks $late of $BLOCKS blocks"
    on a bash -c "set -e; cd /tmp; [[ -e played-$1-$number.bin ]] || mv played-$1-$number.bin.part-* played-$1-$number.bin
      (($bytes == \$(stat -c %s played-$1-$number.bin))) && cmp -i $HALF_BYTES played-$1-1.bin played-$1-$number.bin &&
      cmp -n $((late * BLOCK_BYTES)) played-$1-$number.bin /dev/zero && cmp -i $((late * BLOCK_BYTES)) played-$1-$number.bin /tmp/reference.bin" ||
      fail "member $number is not aligned, $late blocks late"
  done
}

# check_players NAME: two members by each machine's worker, at one instant by its own clock.
check_players() {
  local played
  played=$(ctl play --group "$1" --start-in 6s --to-sample 8192 --rate recorded --sink null \
    --member "10.9.0.1:7502=1,2" --member "10.9.0.2:7502=3,4") || fail "two workers do not play the group: $played"
  is_true "$played" '.jobs | length == 4 and all(.timing.after_at_s >= 0)' "none before the instant"
  is_true "$played" '.jobs | all(.notes | any(.code == "BEGINS_BY_CLOCK" and .synchronized == "true"))' "each says how good its clock is"
  echo "$1: played by both, after the instant by s: $(jq -c '[.jobs[].timing.after_at_s]' <<<"$played")"
}

# Blocks as the source makes them, into a channel that is in no group.
make_reference() {
  ctl record l2/c0 --source synth:seed=5,noise=0 --blocks $BLOCKS >/dev/null
  ctl play l2/c0/latest --sink file:/tmp/reference.bin >/dev/null
}

# check_collection NAME: exported into a folder that the host sees.
check_collection() {
  local out=$JOBS_OF_A/../out-$1
  ctl recordings export --group "$1" --format sigmf --to "/run/lab/out-$1" >/dev/null || fail "no collection"
  is_true "$(cat "$out/$1.sigmf-collection")" '.collection["core:streams"] | length == 4' "the streams"
  if [[ -d $TESTS/e2e/sigmf/node_modules && -d $DATA/sigmf-schema ]]; then
    node "$TESTS/e2e/sigmf/validate.js" "$DATA/sigmf-schema/sigmf-schema.json" "$out"/*.sigmf-meta || fail "a meta does not keep to SigMF's schema"
    node "$TESTS/e2e/sigmf/validate.js" "$DATA/sigmf-schema/collection-schema.json" "$out/$1.sigmf-collection" || fail "the collection does not keep to SigMF's"
    echo "$1: the collection and its metas keep to SigMF's schemas"
  else
    echo "$1: SigMF's schemas are not held against the collection: tests/e2e/group.sh installs what that needs"
  fi
}

begin_vms --timeout 1200 --memory 1536
JOBS_OF_A=${VM_RUN[a]}/jobs
start_on a "$BIN/tapedeck-storage" --insecure --listen 0.0.0.0:7402 --state /tmp/group-state --follow-memory 0 --rail r0=tcp:10.0.0.1 --rail r1=tcp:10.0.1.1
NODE=$JOB
guest a await_listener tcp 7402
start_worker a
start_worker b
ctl lun create l2 --store memory --capacity 256MiB >/dev/null
for channel in c0 c1 c2 c3 c4; do
  ctl channel create "l2/$channel" --block-bytes $BLOCK_BYTES --datatype cf32_le --sample-rate $RATE >/dev/null
done
make_reference
for vm in a b; do by_itself "$vm"; done
echo "the clocks by themselves, ppm against the host's: a ${NATURAL[a]}, b ${NATURAL[b]}"

# Kept, as by chrony, which says that they are off by at most 200 µs when it was last sure.
for vm in a b; do set_clock "$vm" 200; done
record_group bounded system
check_clocks bounded
check_samples bounded
check_players bounded
check_collection bounded

# Kept, as by phc2sys, which tells the kernel again and again that they are right.
for vm in a b; do
  set_clock "$vm" 0
  start_on "$vm" "$BIN/tapedeck-lab-clocks" hold 0
  HOLDER[$vm]=$JOB
done
record_group trusted system
for vm in a b; do stop_job "${HOLDER[$vm]}"; done
check_clocks trusted
check_samples trusted

# Stepped once, and kept by nobody.
for vm in a b; do set_clock "$vm"; done
record_group alone "system, unsynchronized"
check_clocks alone
check_samples alone
stop_job "$NODE"
for vm in a b; do stop_job "${WORKER_JOB[$vm]}"; done
