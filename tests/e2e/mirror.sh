#!/usr/bin/env bash
# A LUN of two copies with real processes: a member that is taken away while it is recorded into does not end the recording,
# the LUN is DEGRADED and says which, what the member missed is mended by a scrub once it is back, and then either copy alone
# has all. So after a kill of the node, too. Damage on one copy plays right, and is mended.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

state_of() { tapectl_json lun list | jq -r '.luns[0].state'; }
is_in_state() { [[ $(state_of) == "$1" ]]; }
cause_has() { tapectl_json lun list | jq -e --arg text "$1" '.luns[0].cause | contains($text)'; }
blocks() { tapectl_json jobs list | jq '[.jobs[].blocks] | max // 0'; }
has_blocks() { (($(blocks) >= $1)); }

# scrub: all of it, after which both copies are whole.
scrub() {
  tapectl_json scrub start m --restart --rate 10GB >"$WORK/scrub.json" || fail "the scrub: $(cat "$WORK/scrub.json")"
  wait_for 10 is_in_state READY || fail "$1: not whole after the scrub: $(tapectl_json lun list) $(cat "$WORK/scrub.json")"
}

plays() { is_whole "$(tapectl_json play "$1" --sink verify)" "$2"; }

begin_test
mkdir "$WORK"/m{0,1}
start_storage
start_worker

answer=$(tapectl_json lun create n --store posix --member "$WORK/m0" --copies 2) && fail "one member has two copies: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
tapectl lun create m --store posix --member "$WORK/m0" --member "$WORK/m1" --copies 2 >/dev/null
tapectl channel create m/c0 --datatype cf32_le --block-bytes 256KiB --sample-rate 1e6 >/dev/null
json_is "$(tapectl_json lun list)" '.luns[0].copies == 2 and .luns[0].state == "READY"' "a new LUN"

start_job record m/c0 --source synth --duration 600s
wait_for 15 has_blocks 20 || fail "the job did not get going"
mv "$WORK/m1" "$WORK/away"
wait_for 10 is_in_state DEGRADED || fail "a member is gone: $(tapectl_json lun list)"
cause_has "$WORK/m1" >/dev/null || fail "the cause names no member: $(tapectl_json lun list)"
had=$(blocks)
wait_for 15 has_blocks $((had + 40)) || fail "the recording stands still with one copy"
mv "$WORK/away" "$WORK/m1"
wait_for 10 cause_has "one copy is whole" >/dev/null || fail "the member is back: $(tapectl_json lun list)"
tapectl jobs cancel "$(tapectl_json jobs list | jq -r '.jobs[0].name')" >/dev/null
end_job
recording=$(tapectl_json recordings list | jq -r '.recordings[0].name')
plays "$recording" "with one copy"
scrub "the member was away"
cmp "$WORK"/m{0,1}/c0/"${recording##*/}"/data || fail "the copies differ"

printf 'damage' | dd of="$WORK/m0/c0/${recording##*/}/data" bs=1 seek=$((3 * 262144 + 7)) conv=notrunc status=none
rm "$WORK/m1/c0/${recording##*/}/index"
plays "$recording" "with a block and an index damaged"
scrub "damage"
json_is "$(tapectl_json scrub show m)" '.repaired == .damaged and .repaired > 0' "what the scrub mended"
cmp "$WORK"/m{0,1}/c0/"${recording##*/}"/data || fail "the copies differ after the damage"

kill_service "$STORAGE_PID"
mv "$WORK/m0" "$WORK/away"
start_storage
is_in_state DEGRADED || fail "started with one member: $(tapectl_json lun list)"
plays "$recording" "from the second member alone"
second=$(tapectl_json record m/c0 --source synth --blocks 30 | tail -n 1 | jq -r .recording)
kill_service "$STORAGE_PID"
mv "$WORK/away" "$WORK/m0"
start_storage
cause_has "$WORK/m0 is behind since" >/dev/null || fail "the first member missed a recording: $(tapectl_json lun list)"
scrub "a recording was made without the first member"
kill_service "$STORAGE_PID"
mv "$WORK/m1" "$WORK/away"
start_storage
plays "$recording" "from the first member alone"
plays "$second" "what was recorded without it"
echo "a member was taken away and put back while recording, and each copy alone has all"
