#!/usr/bin/env bash
# Runs a command in a virtual machine that has a real RoCEv2 stack: Debian's kernel with soft-RoCE, emulated by QEMU.
# The machine sees the host's files at their own paths; what it writes is gone when it ends, except under --share.
#   tests/lab/vm.sh [OPTION...] -- COMMAND [ARGUMENT...]
# The command runs as root in the caller's folder. Its output is streamed to the caller's, its exit status returned;
# 124: it ran past the timeout; 125: the machine ended before the command did; 77: no machine can be had here, and why.
#   --memory MIB        of the machine, 2048 unless told; files it writes take up to three quarters of it
#   --cpus N            1 unless told
#   --timeout SECONDS   of boot and command together, 120 unless told
#   --mtu N             of the ports p0, p1; 4200 unless told, which gives the path MTU 4096
#   --memlock KIB       limit of locked memory, enforced for root too; unlimited unless told
#   --no-rdma           ports without RDMA devices
#   --env NAME=VALUE    for the command; may be repeated
#   --share DIR         writable in the machine, at its own path; may be repeated
#   --disk FILE         a raw image as virtio disk, which guest_disk of guest.sh finds; may be repeated. Not NVMe: its driver may look
#                       at a namespace again while blocks are written, and then waits for ever for dm-log-writes (Linux 6.1)
#   --shared-memory FILE  of 1 MiB: the machine's second PCI region of QEMU's ivshmem is that file's memory (clocks/)
#   --systemd TAR       a Debian with systemd, unpacked into the machine's memory. That is its root, systemd its first process, and
#                       the command a service there; the host's files are beneath /host, this tree also at its own path
#   --stdin             what comes in on the caller's standard input reaches the command's
# For two_vms.sh:
#   --host N            the last part of this machine's addresses, 1 unless told
#   --nic LOCAL,REMOTE  a NIC between two unix sockets; may be repeated: p0, p1, then c0 for control (10.9.0.N).
#                       Without it p0 and p1 are veth devices
#   --run DIR           an empty folder for the machine's console log, pid and monitor; else one that is removed after
set -euo pipefail
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/kernel.sh
source "$LAB/kernel.sh"

BOOT_SECONDS=240 # some 15 on an idle host
MEMORY=2048 CPUS=1 TIMEOUT=120 MTU=4200 MEMLOCK=unlimited RDMA=yes STDIN=no HOST=1 RUN='' KEEP_RUN=no SYSTEMD='' MEMORY_FILE=''
ENVIRONMENT=() SHARES=() DISKS=() NICS=() COMMAND=()

usage() {
  sed -n '2,/^set -e/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  echo "vm.sh: $*" >&2
  exit 2
}

parse() {
  while (($# > 0)); do
    case $1 in
      --no-rdma) RDMA=no && shift && continue ;;
      --stdin) STDIN=yes && shift && continue ;;
      --) shift && COMMAND=("$@") && break ;;
    esac
    (($# > 1)) || usage "$1 needs a value, or is unknown"
    case $1 in
      --memory) MEMORY=$2 ;;
      --cpus) CPUS=$2 ;;
      --timeout) TIMEOUT=$2 ;;
      --mtu) MTU=$2 ;;
      --memlock) MEMLOCK=$2 ;;
      --env) ENVIRONMENT+=("$2") ;;
      --share) SHARES+=("$(realpath "$2")") ;;
      --disk) DISKS+=("$(realpath "$2")") ;;
      --shared-memory) MEMORY_FILE=$(realpath "$2") ;;
      --systemd) SYSTEMD=$(realpath "$2") ;;
      --host) HOST=$2 ;;
      --nic) NICS+=("$2") ;;
      --run) RUN=$(realpath "$2") && KEEP_RUN=yes ;;
      *) usage "no such option: $1" ;;
    esac
    shift 2
  done
  ((${#COMMAND[@]} > 0)) || usage "no command: write it after --"
}

# What an emulated machine pays for and these tests do not need: a fifth level of page tables, protections that end a
# block of translated code, string instructions that are emulated byte by byte, wide registers that each switch of threads
# and each call into a library saves, and pages that are cleared twice. Most of all that programs lie at random addresses: what
# was translated of a library for one serves the next, where it lies at the same. A host that is late with its interrupts must
# not make the kernel take its timer for broken, and what waits until all processors have forgotten something need not wait long.
CPU=max,la57=off,smap=off,smep=off,erms=off,fsrm=off,avx=off,avx2=off,xsave=off
KERNEL_OPTIONS="mitigations=off norandmaps no_timer_check tsc=reliable init_on_alloc=0 randomize_kstack_offset=off"
KERNEL_OPTIONS+=" apparmor=0 audit=0 cgroup_disable=memory hardened_usercopy=off cryptomgr.notests rcupdate.rcu_expedited=1"

# qemu_machine: the arguments in QEMU that do not depend on the network and the disks.
# shellcheck disable=SC2054
qemu_machine() {
  QEMU=(
    qemu-system-x86_64 -accel tcg,thread=multi -cpu "$CPU" -smp "$CPUS" -m "$MEMORY" -nodefaults -no-reboot -display none
    -kernel "$KERNEL/vmlinuz" -initrd "$KERNEL/initramfs.gz" -pidfile "$RUN/pid"
    -append "console=ttyS0 quiet panic=-1 $KERNEL_OPTIONS" -serial "file:$RUN/console.log"
    -chardev "pipe,id=monitor,path=$RUN/monitor" -mon chardev=monitor
    -fsdev "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"
    -device virtio-9p-pci,fsdev=host,mount_tag=host
    -fsdev "local,id=lab,path=$RUN,security_model=none,multidevs=remap" -device virtio-9p-pci,fsdev=lab,mount_tag=lab
    -device virtio-serial-pci -device virtio-rng-pci
    -chardev "file,id=out,path=$RUN/stdout" -device virtserialport,nr=1,chardev=out
    -chardev "file,id=err,path=$RUN/stderr" -device virtserialport,nr=2,chardev=err
    -chardev "pipe,id=in,path=$RUN/stdin" -device virtserialport,nr=3,chardev=in
  )
}

# shellcheck disable=SC2054
qemu_devices() {
  local index
  [[ -z $MEMORY_FILE ]] || QEMU+=(-object "memory-backend-file,id=shared,share=on,mem-path=$MEMORY_FILE,size=1M"
    -device ivshmem-plain,memdev=shared)
  for index in "${!SHARES[@]}"; do
    QEMU+=(-fsdev "local,id=share$index,path=${SHARES[index]},security_model=none,multidevs=remap"
      -device "virtio-9p-pci,fsdev=share$index,mount_tag=share$index")
  done
  for index in "${!DISKS[@]}"; do
    QEMU+=(-drive "file=${DISKS[index]},if=none,format=raw,id=disk$index"
      -device "virtio-blk-pci,drive=disk$index,serial=disk$index")
  done
  for index in "${!NICS[@]}"; do
    QEMU+=(-netdev "dgram,id=wire$index,local.type=unix,local.path=${NICS[index]%,*},remote.type=unix,remote.path=${NICS[index]#*,}"
      -device "virtio-net-pci,netdev=wire$index,id=nic$index,mac=52:54:00:00:0$index:0$HOST")
  done
}

# write_boot: the script that the machine's first program runs, in the run folder.
write_boot() {
  {
    printf '%s=%q ' LAB "$LAB" KERNEL "$KERNEL" HOST "$HOST" MTU "$MTU" MEMLOCK "$MEMLOCK" RDMA "$RDMA" STDIN "$STDIN" \
      SYSTEMD "$SYSTEMD" DIR "$PWD" PATH "$PATH" NICS "${#NICS[@]}" DISKS "${#DISKS[@]}"
    printf '\nSHARES=(%s)\nENVIRONMENT=(%s)\nCOMMAND=(%s)\n' "${SHARES[*]@Q}" "${ENVIRONMENT[*]@Q}" "${COMMAND[*]@Q}"
    printf 'source %q\n' "$LAB/guest_boot.sh"
  } >"$RUN/boot"
}

# start_machine: it dies with this script, however that ends.
start_machine() {
  READERS=()
  rm -f "$RUN"/{stdout,stderr,stdin.in,stdin.out,monitor.in,monitor.out,begun}
  mkfifo "$RUN"/{stdout,stderr,stdin.in,stdin.out,monitor.in,monitor.out}
  cat "$RUN/stdout" &
  READERS+=($!)
  cat "$RUN/stderr" >&2 &
  READERS+=($!)
  setpriv --pdeathsig TERM timeout --kill-after 2 "$TIMEOUT" setpriv --pdeathsig KILL "${QEMU[@]}" \
    </dev/null >"$RUN/qemu.log" 2>&1 &
  MACHINE=$!
}

# has_booted: waits until the command has begun; fails where the machine ends before, or too much time passes.
has_booted() {
  local deadline=$((SECONDS + BOOT_SECONDS))
  until [[ -e $RUN/begun ]]; do
    if ! kill -0 "$MACHINE" 2>/dev/null; then
      [[ -e $RUN/begun ]]
      return
    fi
    ((SECONDS < deadline)) || return 1
    sleep 0.5
  done
}

# boot_machine: a machine that stands still as it boots, or gives up, is started once more. One stood still, both processors
# at an instruction that they took for a breakpoint again and again: perhaps QEMU's translator kept what the kernel had replaced there.
boot_machine() {
  local tries
  for tries in 2 1 0; do
    ((tries > 0)) || : >"$RUN/last_try"
    start_machine
    if ((tries == 0)) || has_booted; then return; fi
    echo "vm.sh: the machine did not boot well within $BOOT_SECONDS s, and is started once more" >&2
    tail -n 5 "$RUN/console.log" >&2 || true
    kill "$MACHINE" 2>/dev/null || true
    wait "$MACHINE" "${READERS[@]}" || true
  done
}

# run_machine: returns QEMU's status, or 124.
run_machine() {
  local status=0
  [[ $STDIN == no ]] || exec 3<&0
  boot_machine
  if [[ $STDIN == yes ]]; then setpriv --pdeathsig KILL cat <&3 >"$RUN/stdin.in" & fi
  wait "$MACHINE" || status=$?
  MACHINE=
  wait "${READERS[@]}"
  return "$status"
}

# shellcheck disable=SC2317
end_run() {
  local status=$? job
  for job in ${MACHINE:-} $(jobs -rp); do
    kill "$job" 2>/dev/null || true
  done
  [[ $KEEP_RUN == yes ]] || rm -rf "$RUN"
  exit "$status"
}

main() {
  local status=0
  parse "$@"
  find_kernel
  [[ -n $RUN ]] || RUN=$(mktemp -d "${TMPDIR:-/tmp}/tapedeck-vm.XXXXXX")
  trap end_run EXIT
  trap 'exit 130' INT TERM
  qemu_machine
  qemu_devices
  write_boot
  run_machine || status=$?
  if [[ -e $RUN/exit ]]; then
    exit "$(<"$RUN/exit")"
  fi
  if ((status == 124)); then
    echo "vm.sh: killed after $TIMEOUT s (--timeout)" >&2
    exit 124
  fi
  echo "vm.sh: the machine ended before the command did (QEMU's status: $status)" >&2
  tail -n 20 "$RUN/qemu.log" "$RUN/console.log" >&2 || true
  exit 125
}

main "$@"
