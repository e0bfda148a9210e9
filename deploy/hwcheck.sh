#!/usr/bin/env bash
# What only real ports, GPUs and drives can show: asks before each fault, records beside it, reads everything back, and compares the
# rates with the wire and with other programs. Writes a table, and all that it learnt into one JSON file, to be sent in.
#   deploy/hwcheck.sh --storage HOST:PORT --worker HOST:PORT --channel LUN/CHANNEL [--times 20] [--only rates,NAME] [--into FILE]
#   deploy/hwcheck.sh --loopback [--times 1]     starts both nodes on this machine over TCP, and does what needs no hardware, unasked
# The channel's recordings that it makes are deleted; no others are touched. tapectl is that of build/bin, or of TAPEDECK_BIN.
set -euo pipefail
# shellcheck source=deploy/services.sh
source "$(dirname "${BASH_SOURCE[0]}")/services.sh"
# shellcheck source=deploy/hwcheck/facts.sh
source "$TAPEDECK_ROOT/deploy/hwcheck/facts.sh"

FAULTS=$TAPEDECK_ROOT/deploy/hwcheck/faults.table
CHANNEL='' TIMES='' ONLY='' INTO=tapedeck-hwcheck.json LOOPBACK='' RATE_TIME=5s RATE_SECONDS=5
# How long a rail may take to come back, a recording to be closed, and a node to start.
BACK_SECONDS=60

usage() {
  sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}"
  exit 2
}

parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --loopback) LOOPBACK=yes && shift && continue ;;
      --storage) export TAPEDECK_STORAGE=${2:?--storage needs HOST:PORT} ;;
      --worker) export TAPEDECK_WORKER=${2:?--worker needs HOST:PORT} ;;
      --channel) CHANNEL=${2:?--channel needs LUN/CHANNEL} ;;
      --times) TIMES=${2:?--times needs a number} ;;
      --only) ONLY=${2:?--only needs names} ;;
      --into) INTO=${2:?--into needs a file} ;;
      *) usage ;;
    esac
    shift 2
  done
  [[ -n $LOOPBACK || (-n $CHANNEL && -n ${TAPEDECK_STORAGE:-} && -n ${TAPEDECK_WORKER:-}) ]] || usage
  TIMES=${TIMES:-$([[ -n $LOOPBACK ]] && echo 1 || echo 20)}
  [[ ! -e $INTO ]] || { echo "hwcheck: $INTO is there already; another name by --into" >&2 && exit 2; }
}

# ask TEXT: whether somebody has done it. Nobody is asked on loopback.
ask() {
  local answer
  [[ -z $LOOPBACK ]] || return 1
  read -rp "$1 [done/SKIP] " answer </dev/tty
  [[ $answer == d* ]]
}

say() { echo "$(date +%H:%M:%S)  $*"; }

begin_loopback() {
  start_storage
  start_worker
  mkdir "$WORK/member"
  tapectl lun create hwcheck --store posix --member "$WORK/member" --capacity 4GiB --full-policy ring >/dev/null
  tapectl channel create hwcheck/c0 --block-bytes 64KiB --segment 768MiB >/dev/null
  CHANNEL=hwcheck/c0 RATE_TIME=300ms RATE_SECONDS=1 IPERF_PORT=$(free_port)
}

# What a site has, as the words of faults.table.
find_out_needs() {
  NEEDS='-'
  ! rails_of worker | jq -se 'any(.wire_limit_bytes_per_s > 0)' >/dev/null || NEEDS+=' port'
  ! rails_of worker | jq -se 'length > 1' >/dev/null || NEEDS+=' rails'
  ! rails_of worker | jq -se 'any(.transport == "verbs")' >/dev/null || NEEDS+=' rdma'
  ! jq -e 'any(.nodes[].memory[]; .device | startswith("cuda"))' "$WORK/facts/nodes" >/dev/null || NEEDS+=' gpu'
  [[ -n $LOOPBACK ]] || ! tapectl_json lun list | jq -e --arg lun "luns/${CHANNEL%/*}" 'any(.luns[]; .name == $lun and .store != "memory")' >/dev/null ||
    NEEDS+=' drive'
  [[ -z ${TAPEDECK_TLS_CERT:-} ]] || NEEDS+=' tls'
}

# missing NEED...: those that are not there.
missing() {
  local need
  for need in "$@"; do [[ " $NEEDS " == *" $need "* ]] || echo -n "$need "; done
}

job() { tapectl_json jobs list 2>/dev/null | jq -rc "(.jobs[0] // {}) | $1"; }

# recordings_of ID: those of the session whose first one has that ID, as lines of JSON, the first segment first. A ring deletes the
# oldest of them meanwhile.
recordings_of() {
  tapectl_json recordings list --segments | jq -c --arg id "$1" '[.recordings[] | select(.stream == $id or (.name | endswith("/" + $id)))] |
    sort_by(.segment)[]'
}

delete_recordings_of() {
  [[ -z $(recordings_of "$1") ]] || tapectl recordings delete "$CHANNEL/$1" >/dev/null
}

has_blocks() { [[ $(job '.name') != "$1" ]] && (($(job '.blocks // 0') > 50)); }

# begin_recording: in the background, for longer than any fault; STREAM is its first recording's ID.
begin_recording() {
  local before
  before=$(job '.name // ""')
  tapectl_json record "$CHANNEL" --source synth --duration 1h >"$WORK/record.json" 2>/dev/null &
  RECORD_PID=$!
  wait_for 30 has_blocks "$before" || return 1
  STREAM=$(job '.recording | split("/") | last')
}

all_rails_up() { [[ $(job 'all(.rails[]; .up)') == true ]]; }

is_closed() { recordings_of "$STREAM" | jq -se 'length > 0 and all(.[]; .state == "SEALED" or .state == "SALVAGED")'; }

# end_recording: CANCEL is yes where it goes on.
end_recording() {
  [[ -z $1 ]] || tapectl jobs cancel "$(job .name)" >/dev/null || true
  wait "$RECORD_PID" || true
  wait_for "$BACK_SECONDS" is_closed || { WHY="the recording is not closed" && return 1; }
}

# reads_back ACKNOWLEDGED: so many blocks of the session are there, less those that a ring has deleted, none of them damaged, and what
# plays is what was recorded. WHY says what is not so.
reads_back() {
  local each verified played one segment=0 first=0 end=0
  while IFS= read -r each <&6; do
    # Segments are alike but for the last.
    if ((segment == 0)); then segment=$(jq .blocks <<<"$each"); fi
    first=$(($(jq .segment <<<"$each") * segment))
    read -ra one < <(jq -r '"\(.name) --segment \(.segment)"' <<<"$each")
    verified=$(tapectl_json recordings verify "${one[@]}" 2>/dev/null || true)
    jq -e --argjson left $(($1 - first)) '[.damaged[] | select(.sequence < $left)] == []' <<<"$verified" >/dev/null ||
      { WHY="blocks that were acknowledged are damaged: $verified" && return 1; }
    played=$(tapectl_json play "${one[@]}" --sink verify 2>/dev/null || true)
    jq -e --argjson missing "$(jq .missing_blocks <<<"$verified")" '.crc_errors == 0 and .lost_blocks == $missing' <<<"$played" >/dev/null ||
      { WHY="it does not play as it was recorded: $played" && return 1; }
    end=$((first + $(jq .blocks <<<"$each")))
  done 6< <(recordings_of "$STREAM")
  ((end >= $1)) || { WHY="$1 blocks were acknowledged, and $end are there" && return 1; }
}

# Of the second rail.
cut_connections() {
  [[ -n $(ss -HK -t state established '( src 127.0.0.2 or dst 127.0.0.2 )' 2>/dev/null) ]] || { WHY="this kernel or user cuts no connections" && return 1; }
}

# do_fault NAME TEXT and undo_fault NAME TEXT: by this script where it can.
do_fault() {
  case ${LOOPBACK:+$1} in
    connections) cut_connections ;;
    kill-storage) kill_service "$STORAGE_PID" ;;
    kill-worker) kill_service "$WORKER_PID" ;;
    *) ask "$2" ;;
  esac
}

undo_fault() {
  case ${LOOPBACK:+$1} in
    connections) ;;
    kill-storage) start_storage ;;
    kill-worker) start_worker ;;
    *) until ask "$2"; do :; done ;;
  esac
}

# Each of these is one round of a fault: 0 as it must be, 1 not, with WHY, 2 left out.
goes_on() {
  local acknowledged
  begin_recording || { WHY="no recording gets going" && return 1; }
  do_fault "$1" "$2" || { end_recording yes && delete_recordings_of "$STREAM" && return 2; }
  undo_fault "$1" "$3"
  wait_for "$BACK_SECONDS" all_rails_up || { WHY="a rail does not come back within $BACK_SECONDS s" && end_recording yes && return 1; }
  acknowledged=$(job .blocks)
  [[ $(job '.state + " " + (.lost_blocks | tostring)') == "RUNNING 0" ]] || { WHY="the recording did not go on" && return 1; }
  end_recording yes && reads_back "$acknowledged" && delete_recordings_of "$STREAM"
}

ends() {
  local acknowledged
  begin_recording || { WHY="no recording gets going" && return 1; }
  acknowledged=$(job '.blocks // 0')
  do_fault "$1" "$2" || { end_recording yes && delete_recordings_of "$STREAM" && return 2; }
  undo_fault "$1" "$3"
  wait_for "$BACK_SECONDS" tapectl nodes || { WHY="a node does not come back" && return 1; }
  # It may have gone on by itself, or try to.
  end_recording "$([[ ! $(job .state) =~ ^(RUNNING|RESUMING)$ ]] || echo yes)" && reads_back "$acknowledged" && delete_recordings_of "$STREAM"
}

refused() {
  local reason status=1
  do_fault "$1" "$2" || return 2
  reason=$(tapectl_json record "$CHANNEL" --source synth --blocks 10 2>/dev/null | jq -r '.error.reason // "none"' | tail -n 1) || true
  undo_fault "$1" "$3"
  [[ " ${*:4} " != *" $reason "* ]] || status=0
  WHY="the recording ended with $reason, not with ${*:4}"
  return "$status"
}

works() {
  do_fault "$1" "$2" || return 2
  WHY="a recording is not whole"
  local status=0
  tapectl_json record "$CHANNEL" --source synth --blocks 1000 | jq -e '.state == "SUCCEEDED" and .lost_blocks == 0' >/dev/null || status=1
  STREAM=$(job '.recording | split("/") | last')
  undo_fault "$1" "$3"
  delete_recordings_of "$STREAM"
  return "$status"
}

# In a LUN of its own, so on any site.
fills_a_lun() {
  local own=hwcheck-full-$$ channel=$CHANNEL reason status=0
  tapectl --timeout 60s lun create "$own" --store memory --capacity 64MiB >/dev/null || { WHY="no memory LUN" && return 1; }
  tapectl channel create "$own/c0" --block-bytes 64KiB >/dev/null
  CHANNEL=$own/c0
  reason=$(tapectl_json record "$CHANNEL" --source synth --duration 1h 2>/dev/null | jq -r '.error.reason // "none"' | tail -n 1) || true
  STREAM=$(job '.recording | split("/") | last')
  WHY="the recording ended with $reason, not with LUN_FULL"
  [[ $reason == LUN_FULL ]] && reads_back "$(job .blocks)" || status=1
  CHANNEL=$channel
  tapectl lun delete "$own" --force >/dev/null
  return "$status"
}

# add_result NAME PASSED ROUNDS WORD WHY SECONDS
add_result() {
  jq -nc --arg name "$1" --argjson passed "$2" --argjson rounds "$3" --arg result "$4" --arg why "$5" --argjson seconds "$6" \
    '{name: $name, passed: $passed, rounds: $rounds, result: $result, why: $why, seconds: $seconds}' >>"$WORK/results"
}

# try_fault NAME NEEDS MUST DO UNDO
try_fault() {
  local name=$1 passed=0 rounds=0 began=$SECONDS lacks status how
  [[ -z $ONLY || ,$ONLY, == *,$name,* ]] || return 0
  # shellcheck disable=SC2086
  lacks=$(missing $2)
  [[ -z $lacks ]] || { add_result "$name" 0 0 "not tried" "not here: ${lacks% }" 0 && return 0; }
  read -ra how <<<"${3/goes-on/goes_on}"
  [[ $name != lun-full ]] || how=(fills_a_lun)
  say "$name: $4"
  while ((rounds < TIMES)); do
    WHY='' status=0
    "${how[0]}" "$name" "$4" "$5" "${how[@]:1}" || status=$?
    if ((status == 2)); then WHY=${WHY:-left out by who was asked} && break; fi
    rounds=$((rounds + 1))
    if ((status == 0)); then passed=$((passed + 1)); else break; fi
  done
  if ((rounds == 0)); then status="not tried"; elif ((passed == rounds)); then status=passed WHY=''; else status=FAILED; fi
  add_result "$name" "$passed" "$rounds" "$status" "$WHY" $((SECONDS - began))
}

try_faults() {
  local name needs must act undo
  : >"$WORK/results"
  while IFS='|' read -r name needs must act undo <&4; do
    [[ $name != '#'* ]] || continue
    try_fault "${name% }" "$needs" "$(xargs <<<"$must")" "${act:1:-1}" "${undo:1}"
  done 4<"$FAULTS"
}

print_tables() {
  local row='%-14s %12s %12s %12s %12s  %s\n'
  # shellcheck disable=SC2059
  printf "\n$row" rails 'record MB/s' 'play MB/s' 'wire MB/s' 'other MB/s' 'other is'
  jq -r '[.rails, .record_mb_per_s, .play_mb_per_s, (if .wire_mb_per_s == 0 then "unknown" else .wire_mb_per_s end), (if .other_mb_per_s == 0 then "-" else .other_mb_per_s end), .other_is] |
    @tsv' "$WORK/rates" | while IFS=$'\t' read -ra cells; do
    # shellcheck disable=SC2059
    printf "$row" "${cells[@]}"
  done
  printf '\n%-14s %-10s %8s %8s  %s\n' fault result rounds seconds why
  jq -r '[.name, .result, "\(.passed)/\(.rounds)", .seconds, (.why | .[0:160])] | @tsv' "$WORK/results" | while IFS=$'\t' read -r name result rounds seconds why; do
    printf '%-14s %-10s %8s %8s  %s\n' "$name" "$result" "$rounds" "$seconds" "$why"
  done
}

main() {
  parse_arguments "$@"
  services_begin
  trap services_end EXIT
  IPERF_PORT=5201
  [[ -z $LOOPBACK ]] || begin_loopback
  say "gathering facts"
  gather_facts
  find_out_needs
  : >"$WORK/rates"
  if [[ -z $ONLY || ,$ONLY, == *,rates,* ]]; then say "measuring rates" && measure_rates; fi
  try_faults
  print_tables
  jq -n --arg date "$(date -u +%FT%TZ)" --argjson facts "$(facts_json)" --slurpfile rates "$WORK/rates" --slurpfile faults "$WORK/results" \
    '{date: $date, facts: $facts, rates: $rates, faults: $faults}' >"$INTO"
  say "all of it is in $INTO"
  jq -se 'all(.[]; .result != "FAILED")' "$WORK/results" >/dev/null
}

main "$@"
