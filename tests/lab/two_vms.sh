# shellcheck shell=bash disable=SC2034
# Sourced by a test that needs two hosts: machines a and b, each with two RDMA ports, whose packets really travel
# between them. The test itself runs on the build machine and directs both. Addresses: ports 0 and 1 of a are 10.0.0.1
# and 10.0.1.1, of b 10.0.0.2 and 10.0.1.2; 10.9.0.1 and 10.9.0.2 are for the control plane.
#   begin_vms [OPTION OF vm.sh...]   boots both, unless another test in this shell has (shared_pair.sh); ends them when
#                                    the shell ends. SLOWNESS: as slowness in guest.sh, by the time that the boot took
#   on a COMMAND...                  runs it on a: its output and status. 125: the machine is gone
#   start_on a COMMAND...            starts it; JOB is its folder, with the files stdout and stderr
#   end_of JOB [SECONDS]             waits for it, 60 s times SLOWNESS unless told (then 124): its status
#   stop_job JOB                     sends it SIGTERM
#   guest a FUNCTION...              a function of guest.sh on a, such as port_down 0
#   vm_cut b, vm_boot b              the power of b goes, comes back; disks stay as they were
#   VM_DISK[a]=2G                    before begin_vms: a disk of that size for a, guest_disk 0 there
#   vm_link a 0 off|on               the cable of a's port 0; 2 is the control NIC
#   VM_WORK/shared                   memory that both machines and the host share: clocks/ measures clocks by it
# Commands run in the caller's folder and see its files as they are, but keep what they write to themselves.
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SLOWNESS=${SLOWNESS:-2}
declare -A VM_RUN VM_PROCESS VM_DISK VM_HOST=([a]=1 [b]=2) VM_PEER=([a]=b [b]=a)

begin_vms() {
  local vm from=$SECONDS
  if [[ -n ${VM_WORK:-} ]]; then
    for vm in a b; do vm_is_up "$vm" || vm_boot "$vm"; done
    return
  fi
  VM_OPTIONS=(--timeout 300 --memory 1024 "$@")
  VM_WORK=$(mktemp -d "${TMPDIR:-/tmp}/tapedeck-vms.XXXXXX")
  truncate -s 1M "$VM_WORK/shared"
  VM_OPTIONS+=(--shared-memory "$VM_WORK/shared")
  trap end_vms EXIT
  trap 'exit 130' INT TERM
  vm_power_on a
  vm_power_on b
  vm_wait_ready a
  vm_wait_ready b
  SLOWNESS=$((2 + (SECONDS - from) / 20))
}

# end_vms: takes the power from both and removes what they left; for a test with an exit trap of its own.
end_vms() {
  local status=$? vm
  for vm in "${!VM_RUN[@]}"; do
    if ((status != 0 && status != 77)); then
      tail -qn 5 "${VM_RUN[$vm]}/console.log" "${VM_RUN[$vm]}/log" >&2 || true
    fi
    # One whose power was cut has ended, and its number may be another process's.
    [[ $'\n'$(jobs -rp)$'\n' != *$'\n'"${VM_PROCESS[$vm]}"$'\n'* ]] || kill "${VM_PROCESS[$vm]}" 2>/dev/null || true
    wait "${VM_PROCESS[$vm]}" || true
  done
  rm -rf "$VM_WORK"
  return "$status"
}

vm_power_on() {
  local run nics=() disk=() wire
  run=$(mktemp -d "$VM_WORK/$1.XXXXXX")
  for wire in 0 1 2; do
    nics+=(--nic "$VM_WORK/wire$wire.$1,$VM_WORK/wire$wire.${VM_PEER[$1]}")
  done
  if [[ -n ${VM_DISK[$1]:-} ]]; then
    truncate -s "${VM_DISK[$1]}" "$VM_WORK/disk.$1"
    disk=(--disk "$VM_WORK/disk.$1")
  fi
  mkdir "$run/jobs"
  mkfifo "$run/orders"
  VM_RUN[$1]=$run
  setpriv --pdeathsig TERM "$LAB/vm.sh" "${VM_OPTIONS[@]}" --host "${VM_HOST[$1]}" "${nics[@]}" "${disk[@]}" \
    --run "$run" --stdin -- "$LAB/agent.sh" <>"$run/orders" >"$run/log" 2>&1 &
  VM_PROCESS[$1]=$!
}

vm_is_up() { [[ -n ${VM_PROCESS[$1]:-} ]] && kill -0 "${VM_PROCESS[$1]}" 2>/dev/null; }

vm_wait_ready() {
  local status=0
  while [[ ! -e ${VM_RUN[$1]}/ready ]]; do
    if ! vm_is_up "$1"; then
      wait "${VM_PROCESS[$1]}" || status=$?
      cat "${VM_RUN[$1]}/log" >&2
      exit "$status"
    fi
    sleep 0.1
  done
}

vm_boot() {
  vm_power_on "$1"
  vm_wait_ready "$1"
}

vm_cut() {
  kill -KILL "$(<"${VM_RUN[$1]}/pid")"
  wait "${VM_PROCESS[$1]}" || true
}

# Pipes are opened to read and write below: to a machine that is gone, writing alone would wait for ever.
vm_link() { echo "set_link nic$2 $3" 1<>"${VM_RUN[$1]}/monitor.in"; }

start_on() {
  JOB=$(mktemp -d "${VM_RUN[$1]}/jobs/XXXXXX")
  echo "$1" >"$JOB/vm"
  printf 'cd %q && exec%s\n' "$PWD" "$(printf ' %q' "${@:2}")" >"$JOB/command"
  echo "start ${JOB##*/}" 1<>"${VM_RUN[$1]}/orders"
}

end_of() {
  local deadline=$((SECONDS + ${2:-60} * SLOWNESS)) vm
  vm=$(<"$1/vm")
  until [[ -e $1/status ]]; do
    if [[ $1 != "${VM_RUN[$vm]}"/* ]] || ! vm_is_up "$vm"; then
      return 125
    fi
    ((SECONDS < deadline)) || return 124
    sleep 0.05
  done
  return "$(<"$1/status")"
}

stop_job() { echo "stop ${1##*/}" 1<>"${VM_RUN[$(<"$1/vm")]}/orders"; }

on() {
  local status=0
  start_on "$@"
  end_of "$JOB" || status=$?
  cat "$JOB/stdout" || true
  cat "$JOB/stderr" >&2 || true
  return "$status"
}

guest() { on "$1" "$LAB/guest.sh" "${@:2}"; }
