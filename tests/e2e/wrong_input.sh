#!/usr/bin/env bash
# Wrong input: each with the right code and reason, and nothing created or lost by it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
own_the_rails "$@"

ROWS=0

# refuse CODE REASON TAPECTL_ARGUMENT...
refuse() {
  local code=$1 reason=$2 answer status=0
  shift 2
  answer=$(tapectl_json "$@" 2>&1) || status=$?
  ((status != 0)) || fail "accepted: tapectl $* gave $answer"
  expect_error_in "$answer" "$code" "$reason"
  ROWS=$((ROWS + 1))
}

luns() { tapectl_json lun list | jq -c '[.luns[] | {name, recordings}]'; }

luns_and_channels() {
  local size
  refuse ALREADY_EXISTS LUN_EXISTS lun create l0 --store memory --capacity 1GiB
  refuse NOT_FOUND LUN_NOT_FOUND lun delete nowhere
  refuse NOT_FOUND LUN_NOT_FOUND channel create nowhere/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e6
  refuse ALREADY_EXISTS CHANNEL_EXISTS channel create l0/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e6
  refuse INVALID_ARGUMENT NAME_INVALID lun create 'no spaces' --store memory --capacity 1GiB
  refuse 'FAILED_PRECONDITION|NOT_FOUND' MEMBER_UNUSABLE lun create l9 --store posix --member /nowhere/at/all
  refuse INVALID_ARGUMENT ARGUMENT_INVALID lun create l9 --store tape --member "$WORK"
  refuse INVALID_ARGUMENT ARGUMENT_INVALID lun create l9 --store posix
  refuse INVALID_ARGUMENT ARGUMENT_INVALID lun create l9 --store posix --member pool:fast
  refuse INVALID_ARGUMENT ARGUMENT_INVALID lun create l9 --store memory --capacity 1MiB --member "$WORK"
  refuse FAILED_PRECONDITION LUN_NOT_EMPTY lun delete l0
  for size in 0 100000 4096 16MiB; do
    refuse INVALID_ARGUMENT BLOCK_SIZE_INVALID \
      channel create l0/c9 --block-bytes "$size" --datatype cf32_le --sample-rate 1e6
  done
  refuse INVALID_ARGUMENT DATATYPE_INVALID channel create l0/c9 --block-bytes 1MiB --datatype cf33 --sample-rate 1e6
}

record_and_play() {
  refuse NOT_FOUND 'CHANNEL_NOT_FOUND|LUN_NOT_FOUND' record nowhere/c0 --source synth --blocks 1
  refuse NOT_FOUND CHANNEL_NOT_FOUND record l0/nowhere --source synth --blocks 1
  refuse NOT_FOUND FILE_NOT_FOUND record l0/c0 --source "file:$WORK/missing.bin"
  echo '{"global": 7' >"$WORK/broken.sigmf-meta"
  refuse 'INVALID_ARGUMENT|NOT_FOUND' 'FILE_INVALID|FILE_NOT_FOUND' \
    record l0/c0 --source "file:$WORK/broken.sigmf-meta"
  refuse INVALID_ARGUMENT RAIL_UNKNOWN record l0/c0 --source synth --blocks 1 --rails r7
  refuse INVALID_ARGUMENT ARGUMENT_INVALID record l0/c0 --source synth --blocks 1 --fft 1000
  refuse INVALID_ARGUMENT ARGUMENT_INVALID record l0/c0 --source synth --blocks 1 --transform power:points=16
  refuse INVALID_ARGUMENT ARGUMENT_INVALID \
    record l0/c0 --source synth --blocks 1 --transform power:points=16 --transform fft:points=16
  refuse NOT_FOUND RECORDING_NOT_FOUND play luns/l0/channels/c0/recordings/none --sink null
  refuse NOT_FOUND RECORDING_NOT_FOUND recordings delete luns/l0/channels/c0/recordings/none
  refuse NOT_FOUND RECORDING_NOT_FOUND recordings delete --dry-run luns/l0/channels/c0/recordings/none
  refuse NOT_FOUND JOB_NOT_FOUND jobs cancel jobs/none
}

# Of the 2,621,440 samples that there are.
wrong_samples_and_times() {
  local wrong
  for wrong in --rate=0 --rate=-1 --rate=nan --rate=inf --rate=1e9 --rate=1e-9 --loop-count=3 --to-sample=3000000 --from-sample=3000000 \
    --at=2020-01-01T00:00:00Z --at=2099-01-01T00:00:00Z; do
    refuse INVALID_ARGUMENT ARGUMENT_INVALID play "$kept" --sink null "$wrong"
  done
  refuse INVALID_ARGUMENT ARGUMENT_INVALID play "$kept" --sink null --from-sample 10 --to-sample 10
  for wrong in "5 5" "6 5" "0 3000000" "3000000 4000000" "0 999999999999"; do
    refuse INVALID_ARGUMENT ARGUMENT_INVALID play "$kept" --sink null --loop --from-sample "${wrong% *}" --to-sample "${wrong#* }"
  done
  refuse INVALID_ARGUMENT ARGUMENT_INVALID play "$kept" --sink null --from-sample 10 --fft 16
  refuse INVALID_ARGUMENT ARGUMENT_INVALID record l0/c0 --source synth --blocks 1 --at 2020-01-01T00:00:00Z
}

# What is known to be too much is not begun. What turns out to be is kept as far as it was acknowledged, and plays.
full_lun() {
  local recording
  CAPACITY=64MiB lun_with_channel memory small/c0 cf32_le 1MiB
  refuse RESOURCE_EXHAUSTED LUN_FULL record small/c0 --source synth --blocks 200
  [[ $(newest_recording) != */small/* ]] || fail "a recording was begun that cannot fit"
  refuse RESOURCE_EXHAUSTED LUN_FULL record small/c0 --source synth --duration 20s
  recording=$(newest_recording)
  [[ $recording == */small/* ]] || fail "what fitted was not kept"
  wait_for 5 is_closed "$recording" || fail "the recording that filled its LUN is not closed"
  is_whole "$(tapectl_json play "$recording" --sink verify)" "playing what fitted"
  tapectl lun delete small --force >/dev/null
}

# One rail whose address takes no packet: the job says which, and goes on over the other if it may.
unreachable_rail() {
  rail_out
  refuse UNAVAILABLE 'RAIL_UNREACHABLE|ALL_RAILS_DOWN|PORT_DOWN' record l0/c0 --source synth --blocks 10 --rails r1
  rail_in
}

unreachable_services() {
  local unused
  unused=$(free_port)
  TAPEDECK_STORAGE=127.0.0.1:$unused refuse UNAVAILABLE NODE_UNREACHABLE lun list
  TAPEDECK_STORAGE=127.0.0.1:$unused refuse UNAVAILABLE NODE_UNREACHABLE record l0/c0 --source synth --blocks 1
}

# A service that cannot start says why and exits.
wrong_options() {
  local options status
  for options in "--rail r0=tcp:10.255.255.1" "--rail r0=carrier-pigeon:127.0.0.1" "--rail nonsense" "--no-such-option"; do
    status=0
    # shellcheck disable=SC2086
    timeout 10 "$TAPEDECK_BIN/tapedeck-storage" --listen "127.0.0.1:$(free_port)" --state "$WORK/other" $options \
      >"$WORK/options.txt" 2>&1 || status=$?
    ((status != 0 && status != 124 && status < 128)) || fail "tapedeck-storage $options: exit status $status"
    [[ -s $WORK/options.txt ]] || fail "tapedeck-storage $options: no word about the reason"
  done
}

# A start that new settings alone can mend ends with 2, after which systemd does not repeat it; one that time may mend, with 1.
wrong_settings() {
  local wanted status options
  while read -r wanted options; do
    status=0
    # shellcheck disable=SC2086
    timeout 10 "$TAPEDECK_BIN/tapedeck-storage" --listen "127.0.0.1:$(free_port)" --state "$WORK/other" $options \
      >"$WORK/options.txt" 2>&1 || status=$?
    ((status == wanted)) || fail "tapedeck-storage $options: exit status $status, not $wanted: $(cat "$WORK/options.txt")"
  done <<'END'
2 --rail r0=tcp:127.0.0.1 --member-root /proc
1 --rail r0=tcp:192.0.2.1
END
}

# expect_hint WORD PROGRAM ARGUMENT...: what is misspelt is refused with the word that was meant.
expect_hint() {
  local word=$1 program=$2 answer status=0
  shift 2
  answer=$(timeout 10 "$TAPEDECK_BIN/$program" "$@" 2>&1) || status=$?
  ((status == 2)) || fail "$program $*: exit status $status"
  [[ $answer == "$program: "*"did you mean \"$word\"? see $program "*--help ]] || fail "$program $*: $answer"
  ROWS=$((ROWS + 1))
}

misspelt() {
  expect_hint record tapectl recrod l0/c0 --source synth
  expect_hint record tapectl recrod --help
  expect_hint create tapectl lun craete l9
  expect_hint --storage tapectl --stroage 127.0.0.1:1 lun list
  expect_hint --force tapectl lun delete l0 --froce
  expect_hint --rebuild-catalog tapedeck-storage --state "$WORK/other" --rebuild-catlog
  expect_hint --device tapedeck-worker --devcie host
}

begin_test
start_storage
start_worker
CAPACITY=256MiB lun_with_channel memory l0/c0 cf32_le 1MiB
kept=$(tapectl_json record l0/c0 --source synth --blocks 20 | jq -r .recording)
before=$(luns)
luns_and_channels
record_and_play
wrong_samples_and_times
full_lun
unreachable_rail
unreachable_services
wrong_options
wrong_settings
misspelt
[[ $(luns) == "$before" ]] || fail "LUNs changed from $before to $(luns)"
is_whole "$(tapectl_json play "$kept" --sink verify)" "playing after all refusals"
echo "$ROWS wrong inputs refused"
