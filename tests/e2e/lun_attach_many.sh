#!/usr/bin/env bash
# Many LUNs of each kind, of one to three members, with recordings in every state: the state directory is deleted, the members
# turn up elsewhere under each other's names, and another node attaches them, LUNs and members in no order. The lists are what
# they were, and all verify. Without one of its members a LUN is OFFLINE, and says which it lacks.
#   lun_attach_many.sh [LUNS]     of each kind: 50 with TAPEDECK_LONG, 4 otherwise
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LUNS=${1:-$([[ -n ${TAPEDECK_LONG:-} ]] && echo 50 || echo 4)}
KINDS=(posix direct device)
declare -A DEVICES # of images: the loop devices on which they are

# Numbered: every third has so many members, every fourth is of the same sort.
members_of() { echo $((1 + $1 % 3)); }
is_ring() { (($1 % 4 == 1 || $1 % 4 == 3)); }
is_triggered() { (($1 % 4 >= 2)); }

# plug FILE: where the machine lets us, an image becomes a device. unplug FILE: before it is moved.
plug() {
  [[ -f $1 && -n $LOOPS ]] || return 0
  DEVICES[$1]=$(losetup --find --show "$1")
}
unplug() {
  [[ -n ${DEVICES[$1]:-} ]] || return 0
  losetup --detach "${DEVICES[$1]}"
  unset "DEVICES[$1]"
}
path_of() { echo "${DEVICES[$1]:-$1}"; }

# shellcheck disable=SC2317
end_devices() {
  local status=$? image pid
  for pid in "${SERVICE_PIDS[@]}"; do stop_service "$pid"; done
  for image in "${!DEVICES[@]}"; do unplug "$image"; done
  (exit "$status") && true
  end_test
}

can_loop() {
  local device
  truncate -s 1M "$WORK/try"
  device=$(losetup --find --show "$WORK/try" 2>/dev/null) && losetup --detach "$device"
}

# make_lun KIND LUN MEMBERS OPTION...
make_lun() {
  local member=() m
  for ((m = 0; m < $3; ++m)); do
    if [[ $1 == device ]]; then truncate -s "${IMAGE_BYTES:-128M}" "$WORK/old/$2.$m"; else mkdir "$WORK/old/$2.$m"; fi
    plug "$WORK/old/$2.$m"
    member+=(--member "$(path_of "$WORK/old/$2.$m")")
  done
  tapectl lun create "$2" --store "$1" "${member[@]}" "${@:4}" >/dev/null
}

# cancel_job: that start_job has started; also if its LUN was full before.
cancel_job() {
  tapectl jobs cancel "$(job | jq -r .name)" >/dev/null
  end_job
}

# trigger LUN: catches something of a stream.
trigger() {
  local capture
  start_job record "$1/t" --source synth --duration 1h --slots 4
  capture=$(tapectl_json trigger "$1/t" --label seen | jq -r '.captures[0].recording')
  wait_for 20 is_closed "$capture" || fail "$capture is not closed"
  cancel_job
}

# make KIND NUMBER: one recording that is kept and has a marker, one that ends with its cause (its LUN is full, or in a ring it
# is cancelled), what triggers keep, and segments.
make() {
  local lun=$1-$2 options=(--max-age 72h) channel=() kept
  ! is_ring "$2" || options=(--full-policy ring) channel=(--segment 1MiB)
  if [[ $1 == device ]]; then
    # The index lies on two of three: they are full before all are.
    (($(members_of "$2") < 3)) || options+=(--capacity 200MiB)
  else
    options+=(--capacity 16MiB)
    (($2 % 5 > 0)) || options+=(--prewrite-files 2 --prewrite-bytes 1MiB)
  fi
  make_lun "$1" "$lun" "$(members_of "$2")" "${options[@]}"
  tapectl channel create "$lun/c" --block-bytes 64KiB --sample-rate 1e6 "${channel[@]}" >/dev/null
  if is_triggered "$2"; then
    is_ring "$2" || channel=(--commit received)
    tapectl channel create "$lun/t" --block-bytes 64KiB --sample-rate 1e6 --pre-trigger 20ms --post-trigger 20ms "${channel[@]}" >/dev/null
    trigger "$lun"
  fi
  tapectl record "$lun/c" --source synth --blocks "$(is_ring "$2" && echo 400 || echo 5)" >/dev/null
  kept=$(tapectl_json recordings list --segments "$lun/c" | jq -r '.recordings[0].name')
  tapectl keep "$kept" >/dev/null
  tapectl annotate "$kept" --from-sample 10 --to-sample 15 --label "burst of $lun" >/dev/null
  is_ring "$2" || tapectl record "$lun/c" --source synth --duration 1h >/dev/null 2>&1 || true
}

# What is still recorded when the node dies. With two slots the worker waits for the node, so that there is room for minutes.
start_open() {
  IMAGE_BYTES=16G make_lun "$1" "$1-open" 2 --capacity 16GiB
  tapectl channel create "$1-open/c" --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  tapectl record "$1-open/c" --source synth --duration 1h --slots 2 >/dev/null 2>&1 &
}

is_open() { tapectl_json recordings list --segments "$1-open/c" | jq -e '.recordings[0] | .state == "RECORDING" and .blocks > 0'; }

# Everything that the lists say, but where it lies and what is still recorded.
lists() {
  local closed='select(.name | test("^luns/[a-z]+-open") | not)'
  tapectl_json lun list | jq --sort-keys "[.luns[] | $closed | del(.members)] | sort_by(.name)[]"
  tapectl_json channel list | jq --sort-keys "[.channels[] | $closed] | sort_by(.name)[]"
  tapectl_json recordings list --segments | jq --sort-keys "[.recordings[] | $closed] | sort_by(.name)[]"
}

# Nothing is deleted any more for new recordings.
has_settled() {
  tapectl_json lun list | jq -e '[.luns[] | select((.name | endswith("-open") | not) and .full_policy == "ring")]
    | all(.used_bytes * 32 <= .capacity_bytes * 31)'
}

# move LUN MEMBERS: to another place, where each has the name of the next one.
move() {
  local m
  for ((m = 0; m < $2; ++m)); do unplug "$WORK/old/$1.$m"; done
  for ((m = 0; m < $2; ++m)); do mv "$WORK/old/$1.$m" "$WORK/new/$1.$(((m + 1) % $2))"; done
  for ((m = 0; m < $2; ++m)); do plug "$WORK/new/$1.$m"; done
}

# attach LUN MEMBER...: by the numbers that they have at their new place.
attach() {
  local m member=()
  for m in "${@:2}"; do member+=(--member "$(path_of "$WORK/new/$1.$m")"); done
  tapectl_json lun attach "${member[@]}"
}

# attach_all LUN MEMBERS: first without one of them.
attach_all() {
  local order lun
  mapfile -t order < <(seq 0 $(($2 - 1)) | shuf)
  if (($2 > 1)); then
    # What has this name at the new place was the member before.
    local lacking=$(((order[0] + $2 - 1) % $2))
    lun=$(attach "$1" "${order[@]:1}")
    json_is "$lun" ".state == \"OFFLINE\" and (.cause | contains(\"member $lacking (last at \"))" "$1 without member $lacking"
  fi
  lun=$(attach "$1" "${order[@]}")
  json_is "$lun" ".name == \"luns/$1\" and .state == \"READY\" and .recordings > 0" "$1 with all members"
}

# verify_all: what was closed has all its blocks; what was not, all that it says it has. A stream of which all is closed is verified
# in one call.
verify_all() {
  local name state segments part
  while read -r name state segments part; do
    json_is "$(tapectl_json recordings verify "$name" ${part:+--segment "$part"})" "(.segments // 1) == $segments and
      [.damaged[] | select(\"$state\" == \"SEALED\" or .kind != \"missing\")] == []" "$name"
  done < <(tapectl_json recordings list --segments | jq -r '.recordings | group_by(.stream)[] | if length > 1 and all(.state == "SEALED")
    then "\(.[0].name | sub("[^/]*$"; ""))\(.[0].stream) SEALED \(length)" else .[] | "\(.name) \(.state) 1 \(.segment)" end')
}

begin_test
trap end_devices EXIT
LOOPS=$([[ $EUID == 0 ]] && can_loop && echo yes) || echo "no loop device is to be had here: device LUNs lie on images"
mkdir "$WORK/old" "$WORK/new"
start_storage
start_worker
for kind in "${KINDS[@]}"; do
  for ((i = 0; i < LUNS; ++i)); do make "$kind" "$i"; done
done
wait_for 30 has_settled || fail "the rings do not settle: $(tapectl_json lun list)"
lists >"$WORK/before.json"
json_is "$(jq -s '[.[] | select(.blocks != null)]' "$WORK/before.json")" '(map(.state) | unique) == ["SALVAGED", "SEALED"] and
  any(.kept) and ([.[].annotations[].label | test("burst|seen")] | any)' "what there is before"
for kind in "${KINDS[@]}"; do start_open "$kind"; done
for kind in "${KINDS[@]}"; do wait_for 20 is_open "$kind" || fail "nothing is recorded into $kind-open"; done
kill -STOP "$WORKER_PID" # so that none of their LUNs is full before
for kind in "${KINDS[@]}"; do is_open "$kind" || fail "$kind-open has ended before"; done >/dev/null
kill_service "$STORAGE_PID"
kill_service "$WORKER_PID"
rm -r "$WORK/state"

mapfile -t luns < <(for kind in "${KINDS[@]}"; do
  echo "$kind-open 2"
  for ((i = 0; i < LUNS; ++i)); do echo "$kind-$i $(members_of "$i")"; done
done | shuf)
# Their words.
# shellcheck disable=SC2086
for lun in "${luns[@]}"; do move $lun; done
STORAGE_PORT=
start_storage
start_worker
json_is "$(tapectl_json lun list)" '.luns == []' "a node without state"
# shellcheck disable=SC2086
for lun in "${luns[@]}"; do attach_all $lun; done
lists | diff "$WORK/before.json" - || fail "the lists have changed"
for kind in "${KINDS[@]}"; do
  json_is "$(tapectl_json recordings list --segments "$kind-open/c")" \
    '.recordings | length == 1 and all(.state == "SALVAGED" and .blocks > 0 and (.cause | contains("stopped while recording")))' \
    "$kind-open"
done
verify_all
is_whole "$(tapectl_json record "${KINDS[0]}-1/c" --source synth --blocks 5)" "recording into what was attached"
echo "$((LUNS * ${#KINDS[@]})) LUNs and $(jq -s '[.[] | select(.blocks != null)] | length' "$WORK/before.json") recordings were attached as they were"
