#!/usr/bin/env bash
# threads_and_files.sh [CYCLES]: a channel is made, recorded into, verified, scrubbed, one scrub in four stopped on its way, and
# deleted, again and again: threads, maps, descriptors and files of the storage node stay where they were. Then neither node
# gets another thread nor address space: every call is answered, and nothing ends.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need prlimit

CYCLES=${1:-$([[ -n ${TAPEDECK_LONG:-} ]] && echo 2000 || echo 30)}

# usage PID: threads, maps, descriptors, files of its state.
usage() {
  local threads maps
  threads=$(awk '/^Threads:/ {print $2}' "/proc/$1/status")
  maps=$(wc -l <"/proc/$1/maps")
  echo "$threads $maps $(find "/proc/$1/fd" -mindepth 1 | wc -l) $(find "$WORK/state" -type f | wc -l)"
}

# cycle NUMBER: of few processes, which is what it costs.
cycle() {
  local channel=l0/c$1
  tapectl channel create "$channel" --block-bytes 64KiB --datatype cf32_le --sample-rate 1e6 >/dev/null
  tapectl record "$channel" --source synth --blocks 70 >/dev/null || fail "cycle $1 does not record"
  tapectl recordings verify "$channel/latest" >/dev/null || fail "cycle $1 does not verify"
  if (($1 % 4 == 0)); then
    tapectl scrub start "$channel" --detach --rate 1kB >/dev/null
    tapectl scrub stop "$channel" >/dev/null
  else
    timeout "$(slow 20)" "$TAPEDECK_BIN/tapectl" scrub start "$channel" --rate 1TB >/dev/null || fail "cycle $1: the scrub does not end"
  fi
  tapectl recordings delete "$channel/latest" >/dev/null
  tapectl channel delete "$channel" >/dev/null
}

# cycles FIRST LAST
cycles() {
  local number
  for ((number = $1; number <= $2; number++)); do cycle "$number"; done
}

stay_where_they_were() {
  local -a before after
  cycles 1 12
  read -ra before < <(usage "$STORAGE_PID")
  cycles 13 $((12 + CYCLES))
  sleep 1
  read -ra after < <(usage "$STORAGE_PID")
  echo "before: ${before[*]}; after $CYCLES cycles: ${after[*]} (threads, maps, descriptors, files of the state)"
  # gRPC keeps up to a few idle threads, each with two maps and its arena's two.
  ((after[0] <= before[0] + 4)) || fail "threads are left"
  ((after[1] <= before[1] + 24)) || fail "maps are left"
  ((after[2] <= before[2] + 4)) || fail "descriptors are left"
  ((after[3] <= before[3] + 1)) || fail "files are left"
}

# is_refused ARGUMENT...: the call is answered, with LIMIT_REACHED.
is_refused() {
  local answer
  answer=$(timeout 30 "$TAPEDECK_BIN/tapectl" --output json "$@" 2>&1) && fail "not refused: $*: $answer"
  expect_error_in "$answer" '.*' LIMIT_REACHED
}

is_answered() { timeout 30 "$TAPEDECK_BIN/tapectl" --output json "$@" >/dev/null || fail "not answered: $*"; }

# limit PID OPTION...: as whoever the node runs as.
limit() {
  local as=()
  ((EUID != 0)) || as=(setpriv --reuid=65534 --clear-groups)
  "${as[@]}" prlimit --pid "$@"
}

# Neither node may have another thread, and what they have is all the address space there is, but for 6 MiB: less than a
# thread's stack.
take_away_threads() {
  local pid kib
  for pid in "$STORAGE_PID" "$WORKER_PID"; do
    kib=$(awk '/^VmSize:/ {print $2}' "/proc/$pid/status")
    limit "$pid" --nproc=0: --as=$(((kib + 6 * 1024) * 1024)):
  done
}

give_threads_back() {
  local pid most
  for pid in "$STORAGE_PID" "$WORKER_PID"; do
    most=$(limit "$pid" --nproc --output HARD --noheadings | tr -d ' ')
    limit "$pid" --nproc="$most": --as=unlimited:
  done
}

refuse_without_threads() {
  local recording=$1 store
  mkdir -p "$WORK/more-posix" "$WORK/more-direct"
  # Each has a thread for short calls then.
  is_answered lun list
  is_answered jobs list
  take_away_threads
  for _ in {1..5}; do
    for store in posix direct; do
      is_refused lun create "more-$store" --store "$store" --member "$WORK/more-$store" --capacity 1GiB
    done
    is_refused lun create more --store memory --capacity 64GiB
    is_refused recordings verify "$recording"
    is_refused scrub start l0
    is_refused record l0/c0 --source synth --blocks 8
    is_refused play "$recording" --sink null
    is_answered lun list
    is_answered recordings show "$recording"
    is_answered jobs list
  done
  for pid in "$STORAGE_PID" "$WORKER_PID"; do kill -0 "$pid" || fail "a node has ended"; done
  give_threads_back
  is_answered recordings verify "$recording"
  is_answered play "$recording" --sink verify
  is_answered lun create more-posix --store posix --member "$WORK/more-posix" --capacity 1GiB
}

# Root may have as many threads as it likes, so the nodes run as nobody, who may open what root may, wherever this tree lies.
run_as_nobody() {
  local program real=$TAPEDECK_BIN caps=-all,+dac_override,+dac_read_search
  ((EUID == 0)) && setpriv --reuid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" true || return 0
  mkdir "$WORK/bin"
  for program in tapedeck-storage tapedeck-worker; do
    printf '#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups --inh-caps=%s --ambient-caps=%s %q "$@"\n' \
      "$caps" "$caps" "$real/$program" >"$WORK/bin/$program"
    chmod +x "$WORK/bin/$program"
  done
  ln -s "$real/tapectl" "$WORK/bin/tapectl"
  TAPEDECK_BIN=$WORK/bin
  umask 000 # they ask access(2) about members, which looks at nobody alone
  chmod 777 "$WORK"
}

begin_test
run_as_nobody
start_storage
start_worker
CAPACITY=1GiB lun_with_channel posix l0/c0 cf32_le 64KiB
recording=$(tapectl_json record l0/c0 --source synth --blocks 8 | jq -r .recording)
refuse_without_threads "$recording"
stay_where_they_were
