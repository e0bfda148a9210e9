#!/usr/bin/env bash
# Every write that reaches the disk under a storage node is logged in a virtual machine, with what the node had
# acknowledged by then; here, the power is cut after each of them: the node starts on what is left, and nothing that
# was durable is lost, and nothing wrong plays.
#   tests/lab/log_writes.sh [OPTION...]       one log of each kind, unless told
#   --fs ext4|xfs|raw --kind posix|direct|device    logs of these alone
#   --short             two logs, small recordings, and a sample of the prefixes; with TAPEDECK_LONG every log, and more of each
#   --prefixes N        so many, chosen by the seed; 0: all
#   --losses N          for each prefix so many states more, in which some writes since the last flush are lost or torn
#   --seed N            of the recordings' sizes and of what is chosen
#   --keep DIR          the logs too, each in a folder of its own; those that show a loss are always kept
#   --replay DIR        a log that was kept, instead of new ones; --fs says what it is of
#   --only N            the prefix of N entries alone, with its losses
# One machine records them all; a line for each says what came of it (results.sh). Exit status 1: something was lost or
# wrong; it is said after which entry.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
LAB=$TAPEDECK_ROOT/tests/lab
# shellcheck source=tests/lab/results.sh
source "$LAB/results.sh"

LOGS=(ext4/posix ext4/direct xfs/posix xfs/direct raw/device)
FS='' KIND='' KEEP='' REPLAY='' ONLY=0 SEED=$RANDOM BLOCKS=64 NUMBER=0 PREFIXES=0 LOSSES=1 SHARDS=4
# The same on both machines, as the LUN's configuration names its members; mounts there are private to each shard.
PLACE=/run/tapedeck-log-writes
DISK_BYTES=$((320 * MIB)) LOG_BYTES=$((2048 * MIB)) BLOCK_BYTES=65536

while [[ $# -gt 0 ]]; do
  case $1 in
    --short)
      BLOCKS=12 PREFIXES=100 LOSSES=0
      if [[ -n ${TAPEDECK_LONG:-} ]]; then BLOCKS=32 PREFIXES=200 LOSSES=1; else LOGS=(ext4/direct raw/device); fi
      shift && continue
      ;;
    --fs) FS=$2 ;;
    --kind) KIND=$2 ;;
    --prefixes) PREFIXES=$2 ;;
    --losses) LOSSES=$2 ;;
    --seed) SEED=$2 ;;
    --keep) KEEP=$2 ;;
    --replay) REPLAY=$2 ;;
    --only) ONLY=$2 ;;
    *) sed -n '2,/^source/s/^# \{0,1\}//p' "$0" && exit 2 ;;
  esac
  shift 2
done

# Files of random bytes, all of another length, most with a partial last block. s3 and s5 will not be recorded whole, and s1
# must last longer than a look at it.
make_sources() {
  mkdir "$WORK/sources"
  python3 - "$WORK/sources" "$SEED" "$BLOCKS" "$BLOCK_BYTES" <<'PYTHON'
import pathlib, random, sys
folder, seed, blocks, block_bytes = sys.argv[1], *map(int, sys.argv[2:])
choose = random.Random(seed)
for name in range(6):
    size = int(blocks * block_bytes * choose.uniform(0.7, 1.3)) * {1: 4, 3: 8, 5: 8}.get(name, 1)
    pathlib.Path(folder, f"s{name}").write_bytes(choose.randbytes(size))
PYTHON
}

# record_logs FS/KIND...: makes IMAGES/FS-KIND/log of each, in one machine; says "recorded FS/KIND STATUS" as it goes.
record_logs() {
  local log name options=()
  for log in "$@"; do
    name=${log/\//-}
    mkdir -p "$IMAGES/$name/results"
    truncate -s "$DISK_BYTES" "$IMAGES/$name/disk"
    truncate -s "$LOG_BYTES" "$IMAGES/$name/log"
    ln -s "$WORK/sources" "$IMAGES/$name/sources"
    options+=(--disk "$IMAGES/$name/disk" --disk "$IMAGES/$name/log" --share "$IMAGES/$name/results")
  done
  setpriv --pdeathsig TERM "$LAB/vm.sh" --no-rdma --memory 3072 --timeout $((1000 * $#)) "${options[@]}" \
    --env "TAPEDECK_BIN=$TAPEDECK_BIN" --env "PLACE=$PLACE" --env "SOURCES=$WORK/sources" --env "IMAGES=$IMAGES" \
    -- "$LAB/log_writes/record_all.sh" "$@" 2>"$WORK/machine.log" </dev/null
}

# replay_log FS DIR: of the log, sources and results there; sets VERDICT.
replay_log() {
  local options=(--log "$2/log" --sources "$2/sources" --block-bytes "$BLOCK_BYTES") shard
  attach
  for ((shard = 0; shard < SHARDS; shard++)); do
    options+=(--image "$IMAGES/disk$shard" --device "${LOOPS[shard]}")
  done
  mkdir -p "$PLACE/mnt"
  if [[ $1 == raw ]]; then
    touch "$PLACE/device"
    options+=(--mount "$PLACE/device" --state "$WORK/state" --state-from "$2/results")
  else
    options+=(--fs "$1" --mount "$PLACE/mnt" --state "$PLACE/mnt/state")
  fi
  VERDICT=0
  "$TAPEDECK_BIN/tapedeck-log-replay" "${options[@]}" --prefixes "$PREFIXES" --losses "$LOSSES" --seed "$SEED" \
    --only "$ONLY" 2>"$2/replay.log" || VERDICT=$?
  detach
}

# keep_log NAME DIR
keep_log() {
  mkdir -p "$2"
  cp --sparse=always "$IMAGES/$1/log" "$2/log"
  cp -r "$WORK/sources" "$IMAGES/$1"/{results,replay.log} "$2"
  echo "  kept in $2"
}

# replay_recorded FS/KIND: said and kept as a check of its own.
replay_recorded() {
  local name=${1/\//-} keep=$KEEP
  printf '%s, seed %d:\n' "$1" "$SEED"
  replay_log "${1%/*}" "$IMAGES/$name"
  if ((VERDICT > 0)); then
    echo "FAILED: the replay of $1: exit status $VERDICT"
    keep=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/tapedeck-log.XXXXXX")}
  fi
  [[ -z $keep ]] || keep_log "$name" "$keep/$name"
  rm -rf "${IMAGES:?}/$name" "${WORK:?}"/state*
}

# end_of_log FS/KIND STATUS SECONDS: what came of recording it in the machine, and what comes of its replay here.
end_of_log() {
  local out=$WORK/$((++NUMBER)).out
  VERDICT=$2
  if ((VERDICT == 0)); then
    replay_recorded "$1" >"$out" 2>&1
  else
    echo "FAILED: the recording of $1: exit status $2" | cat - "$IMAGES/${1/\//-}/results/record.out" >"$out"
  fi
  result_of "$VERDICT" "log_writes.${1/\//_}" $((SECONDS - $3)) "$out" || failed=1
}

# all_logs FS/KIND...: each is replayed while the machine records the next.
all_logs() {
  local word log status from=$SECONDS machine done=0
  exec 5< <(record_logs "$@")
  machine=$!
  while read -r word log status <&5; do
    [[ $word == recorded ]] || { echo "$word $log $status" && continue; }
    end_of_log "$log" "$status" "$from"
    done=$((done + 1)) from=$SECONDS
  done
  status=0
  wait "$machine" || status=$?
  if ((status == 77)); then
    for log in "$@"; do result_of 77 "log_writes.${log/\//_}" 0 "$WORK/machine.log"; done
    exit 77
  fi
  ((done == $#)) || fail "the machine has recorded $done of $# logs: status $status"
}

# attach: makes LOOPS, a loop device for each shard.
attach() {
  local shard
  for ((shard = 0; shard < SHARDS; shard++)); do
    truncate -s "$DISK_BYTES" "$IMAGES/disk$shard"
    LOOPS[shard]=$(losetup --find --show "$IMAGES/disk$shard" 2>"$WORK/losetup.log") ||
      skip "no loop device: $(cat "$WORK/losetup.log")"
  done
}

detach() {
  local loop
  for loop in "${LOOPS[@]}"; do [[ -z $loop ]] || losetup --detach "$loop"; done
  LOOPS=()
}

# shellcheck disable=SC2317
end_logs() {
  local status=$?
  detach
  rm -rf "$IMAGES"
  (exit "$status") && true
  end_test
}

LOOPS=() IMAGES=''
[[ $(id -u) == 0 ]] || skip "mounting needs root"
mountpoint -q / || skip "the root directory is no mount point (a chroot), so what is mounted would be seen outside; bind it to itself"
for tool in losetup dmsetup mkfs.ext4 mkfs.xfs python3; do need "$tool"; done
begin_test
IMAGES=$(mktemp -d /dev/shm/tapedeck-log.XXXXXX) || skip "no memory file system in /dev/shm"
trap end_logs EXIT
failed=0
if [[ -n $REPLAY ]]; then
  replay_log "${FS:-ext4}" "$REPLAY"
  exit "$VERDICT"
fi
make_sources
[[ -z $FS || -z $KIND ]] || LOGS=("$FS/$KIND")
WANTED=()
for log in "${LOGS[@]}"; do
  [[ $log != ${FS:-*}/${KIND:-*} ]] || WANTED+=("$log")
done
all_logs "${WANTED[@]}"
exit "$failed"
