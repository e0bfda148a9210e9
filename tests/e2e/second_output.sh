#!/usr/bin/env bash
# One job records spectra of synth into one channel and their averages into another. Both verify, and where the second finds no
# room, the first is recorded all the same.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# An average is made of 512 KiB and has 4 KiB: a block of 64 KiB holds those of 8 MiB.
AVERAGED=power:points=1024,average=64
RECORD=(record l0/c0 --source synth --fft 1024)

# plays RECORDING BLOCKS: all of them, compared with what synth and the transforms make.
plays() {
  local played
  played=$(tapectl_json play "$1" --sink verify) || fail "$1 does not verify: $played"
  is_whole "$played" "playing $1"
  json_is "$played" ".blocks == $2 and ([.notes[] | select(.code == \"CONTENT_NOT_COMPARED\")] == [])" "playing $1"
}

# shellcheck disable=SC2016
job_is() { job '.state == $state' -e --arg state "$1" >/dev/null; }
second_is_full() { job '.outputs[0].error.reason == "LUN_FULL"' -e >/dev/null; }

begin_test
start_storage
start_worker
CAPACITY=4GiB lun_with_channel posix l0/c0 cf32_le 1MiB
tapectl channel create l0/spectra --block-bytes 64KiB --datatype rf32_le --sample-rate 15625 >/dev/null
mkdir "$WORK/member-tiny"
tapectl lun create tiny --store posix --member "$WORK/member-tiny" --capacity 1MiB >/dev/null
tapectl channel create tiny/spectra --block-bytes 64KiB --datatype rf32_le >/dev/null

answer=$(tapectl_json "${RECORD[@]}" --blocks 100 --also l0/spectra --also-transform "$AVERAGED") || fail "$answer"
json_is "$answer" '.state == "SUCCEEDED" and .blocks == 100 and (.outputs | length == 1)' "the job"
json_is "$answer" '.outputs[0] | .blocks == 13 and .bytes == 200 * 4096 and .lost_blocks == 0 and (has("error") | not)' "its second output"
plays l0/c0/latest 100
plays l0/spectra/latest 13
json_is "$(tapectl_json recordings show l0/spectra/latest)" \
  '.state == "SEALED" and .origin.beside == "luns/l0/channels/c0" and [.origin.transforms[].name] == ["fft", "power"] and .labels == {}' "the spectra"
echo "100 blocks and 13 of their averages verify"

start_job "${RECORD[@]}" --duration 1h --also tiny/spectra --also-transform power:points=1024
wait_for 30 second_is_full || fail "the second output is not full: $(job)"
job_is RUNNING || fail "the first ends with the second: $(job)"
blocks=$(job .blocks)
tapectl jobs cancel "$(job .name)" >/dev/null
end_job
expect_error_in "$ANSWER" RESOURCE_EXHAUSTED LUN_FULL
json_is "$ANSWER" '.state == "FAILED" and (.error.message | startswith("the second output, luns/tiny/channels/spectra: "))' "the job"
json_is "$ANSWER" ".blocks >= $blocks and .lost_blocks == 0 and .outputs[0].error.reason == \"LUN_FULL\"" "the job"
plays l0/c0/latest "$(jq .blocks <<<"$ANSWER")"

refused=$(tapectl_json "${RECORD[@]}" --blocks 1 --also l0/spectra --also-transform detect:threshold=0) && fail "$refused"
expect_error_in "$refused" INVALID_ARGUMENT ARGUMENT_INVALID
refused=$(tapectl_json "${RECORD[@]}" --blocks 1 --also l0/c0) && fail "$refused"
expect_error_in "$refused" INVALID_ARGUMENT ARGUMENT_INVALID
