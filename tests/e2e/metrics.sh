#!/usr/bin/env bash
# Metrics of both nodes: they are what tapectl says, to the block, also when connections were cut; and the page does not grow with
# recordings and jobs.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
own_the_rails "$@"

# Whole ones are short. Of a GB a fast machine under load still moves some while its connections are cut, of 150 MB one whose rails
# have 75 MB/s.
WHOLE_BLOCKS=400 CUT_BLOCKS=4000 RECORDED=0
ROUNDS=$([[ -n ${TAPEDECK_LONG:-} ]] && echo 20 || echo 4)

# jobs_sum DIRECTION FILTER: over all jobs.
jobs_sum() { tapectl_json jobs list | jq "[.jobs[] | select(.direction == \"$1\") | $2] | add // 0"; }

# transfers ROUND: records and plays, with the connections of r1 cut in every other round.
transfers() {
  local recording
  if (($1 % 2)); then
    ANSWER=$(tapectl_json record l0/c0 --source synth --blocks $WHOLE_BLOCKS) || fail "recording, round $1: $ANSWER"
  else
    start_job record l0/c0 --source synth --blocks $CUT_BLOCKS
    cut_connections
    end_job
  fi
  is_whole "$ANSWER" "recording, round $1"
  RECORDED=$((RECORDED + ($1 % 2 ? WHOLE_BLOCKS : CUT_BLOCKS)))
  recording=$(jq -r .recording <<<"$ANSWER")
  is_whole "$(tapectl_json play "$recording" --sink verify)" "playing, round $1"
  tapectl recordings delete "$recording" >/dev/null
}

counts_are_those_of_jobs() {
  local direction label node rail counter
  for direction in RECORD PLAYBACK; do
    label="direction=\"${direction,,}\""
    for node in storage worker; do
      expect "$(jobs_sum $direction .blocks)" $node tapedeck_session_blocks_total "$label"
      expect "$(jobs_sum $direction .bytes)" $node tapedeck_session_bytes_total "$label"
    done
    for counter in crc_errors retransmitted_blocks duplicate_blocks; do
      expect "$(jobs_sum $direction ".$counter")" worker "tapedeck_${counter}_total" "$label"
    done
  done
  for rail in r0 r1; do
    expect "$(jobs_sum PLAYBACK ".rails[] | select(.name == \"$rail\") | .blocks")" \
      worker tapedeck_rail_blocks_total "rail=\"$rail\"" 'direction="received"'
  done
  (($(metric storage tapedeck_rail_blocks_total 'direction="received"') >= RECORDED)) || fail "rails have carried too little"
  expect $((2 * ROUNDS)) worker tapedeck_jobs_ended_total 'state="succeeded"'
  expect $((2 * ROUNDS)) storage tapedeck_sessions_opened_total
  expect "$RECORDED" storage tapedeck_lun_written_blocks_total 'lun="l0"'
  expect 1 storage tapedeck_lun_online 'lun="l0"'
  (($(metric worker tapedeck_rail_failures_total 'rail="r1"') > 0)) || fail "no failure of the rail that was cut is counted"
  (($(metric worker tapedeck_rail_failures_total 'rail="r0"') == 0)) || fail "failures of the rail that worked are counted"
}

lines() { ask "$1" /metrics | wc -l; }

page_does_not_grow() {
  local storage worker
  storage=$(lines storage) worker=$(lines worker)
  for _ in {1..10}; do tapectl record l0/c0 --source synth --blocks 2 >/dev/null; done
  expect 10 storage tapedeck_lun_recordings
  (($(lines storage) == storage && $(lines worker) == worker)) || fail "the pages have grown"
  for node in storage worker; do expect 0 $node tapedeck_page_samples_left_out; done
}

pages_are_right() {
  local node
  if ! command -v promtool >/dev/null; then
    echo "promtool is not installed (Debian: prometheus), so it did not check the pages"
    return
  fi
  for node in storage worker; do ask $node /metrics | promtool check metrics || fail "the page of the $node is not as it should be"; done
}

begin_test
with_admin_ports
! pace_rails 600 || WHOLE_BLOCKS=200 CUT_BLOCKS=600
CAPACITY=$((CUT_BLOCKS / 4 + 64))MiB lun_with_channel memory l0/c0 cf32_le 256KiB
for ((round = 1; round <= ROUNDS; round++)); do transfers "$round"; done
counts_are_those_of_jobs
page_does_not_grow
pages_are_right
echo "$ROUNDS rounds: $(jobs_sum RECORD .blocks) blocks recorded, $(jobs_sum PLAYBACK .blocks) played, $(jobs_sum RECORD .retransmitted_blocks) sent again; the pages say the same"
