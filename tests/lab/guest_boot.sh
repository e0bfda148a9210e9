# shellcheck shell=bash disable=SC2154
# Runs as the first process of the machine, in the host's root, with the settings that vm.sh wrote: readies the
# machine, runs the command, leaves its status in /run/lab/exit and switches the machine off. With --systemd it hands over to
# systemd in a root of its own, and runs once more, as a service, for the command alone.
set -uo pipefail
export PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=tests/lab/guest.sh
source "$LAB/guest.sh"

# read_clocks: HOST_MS, by which the host dates files, and GUEST_MS.
read_clocks() {
  local dated up
  touch /run/lab/clock
  dated=$(stat -c %.3Y /run/lab/clock)
  read -r up _ </proc/uptime
  HOST_MS=${dated/./} GUEST_MS=${up/./}0
}

# clock_is_right: a host that is held up while the kernel measures its time stamp counter gives a clock that runs away.
clock_is_right() {
  local host=$HOST_MS guest=$GUEST_MS
  ((SECONDS >= 2)) || sleep 2
  read_clocks
  host=$((HOST_MS - host)) guest=$((GUEST_MS - guest))
  ((guest * 4 < host * 5 && host * 4 < guest * 5)) && return
  echo "the clock went on by $guest ms while the host's did by $host ms" >/dev/console
  [[ -e /run/lab/last_try ]]
}

ready_files() {
  local index
  ln -s /proc/self/fd /dev/fd
  ln -s fd/0 /dev/stdin
  ln -s fd/1 /dev/stdout
  ln -s fd/2 /dev/stderr
  mkdir -p /dev/shm /dev/pts
  mount -t tmpfs tmpfs /dev/shm
  mount -t devpts devpts /dev/pts
  for index in "${!SHARES[@]}"; do
    mkdir -p "${SHARES[index]}"
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none "share$index" "${SHARES[index]}"
  done
  # Modules by name, for modprobe and for the kernel itself.
  mkdir -p /lib/modules
  mount --bind "$KERNEL/lib/modules" /lib/modules
  modprobe -a virtio_console virtio_rng
}

# The driver finds its disks after modprobe has returned.
ready_disks() {
  ((DISKS > 0)) || return 0
  modprobe virtio_blk
  for _ in {1..100}; do
    (($(find /sys/block -name 'vd*' | wc -l) < DISKS)) || return 0
    sleep 0.1
  done
}

# name_nics: the virtio NICs, by the fifth byte of their addresses, become p0, p1 and c0.
name_nics() {
  local names=(p0 p1 c0) path mac
  modprobe virtio_net
  for path in /sys/class/net/*/address; do
    read -r mac <"$path"
    [[ $mac == 52:54:* ]] || continue
    ip link set "$(basename "$(dirname "$path")")" name "${names[16#${mac:12:2}]}"
  done
}

ready_network() {
  local port
  hostname "lab$HOST"
  ip link set lo up
  if ((NICS > 0)); then
    name_nics
    ip address add "10.9.0.$HOST/24" dev c0
    ip link set c0 up
  fi
  # rxe needs a CRC32 driver when it is loaded.
  [[ $RDMA == no ]] || modprobe -a crc32_generic rdma_rxe ib_uverbs rdma_ucm
  for port in 0 1; do
    ((NICS > 0)) || make_veth_port "$port"
    ready_port "$port" "$HOST" "$MTU" "$RDMA"
  done
}

# run_command: with its output on the ports that lead to the caller. Pipes lie between, since such a port cannot be
# opened twice, as /dev/stdout would.
run_command() {
  local port out err input=/dev/null status=0 limit=() slowness
  slowness=$(slowness)
  port=$(basename /sys/class/virtio-ports/vport*p1)
  port=/dev/${port%1}
  [[ $STDIN == no ]] || input=${port}3
  exec 3> >(exec cat >"${port}1")
  out=$!
  exec 4> >(exec 3>&- cat >"${port}2")
  err=$!
  : >/run/lab/begun
  # Root may lock memory past the limit, unless this capability is taken away.
  [[ $MEMLOCK == unlimited ]] || limit=(setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
  (
    cd "$DIR" && ulimit -l "$MEMLOCK" &&
      exec env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 LAB="$LAB" TAPEDECK_SLOWNESS="$slowness" "${ENVIRONMENT[@]}" "${limit[@]}" "${COMMAND[@]}"
  ) <"$input" >&3 2>&4 3>&- 4>&- || status=$?
  exec 3>&- 4>&-
  # Programs that the command left behind hold its output open; they are not waited for.
  timeout 2 tail --pid="$out" -f /dev/null
  timeout 2 tail --pid="$err" -f /dev/null
  echo "$status" >/run/lab/exit
}

# become_systemd: does not return. A machine-id spares it what it does at the first start of an installation.
become_systemd() {
  local root=/newroot tree directory
  tree=$(realpath "$LAB/../..")
  mkdir "$root"
  mount -t tmpfs -o size=75% tmpfs "$root"
  tar -C "$root" -xf "$SYSTEMD"
  mkdir -p "$root/host" "$root$tree"
  mount --bind "$tree" "$root$tree"
  printf '%032x\n' 1 >"$root/etc/machine-id"
  printf '%s\n' '[Unit]' 'Requires=basic.target' 'After=basic.target' '[Service]' 'Environment=UNDER_SYSTEMD=yes' \
    'ExecStart=/bin/bash /run/lab/boot' >"$root/etc/systemd/system/lab.service"
  for directory in proc sys dev run; do mount --move "/$directory" "$root/$directory"; done
  cd "$root" && pivot_root . host && exec chroot . /lib/systemd/systemd --unit=lab.service
}

ulimit -n 65536
if [[ -n ${UNDER_SYSTEMD:-} ]]; then
  run_command
else
  read_clocks
  ready_files
  ready_disks
  ready_network
  if clock_is_right; then
    [[ -z $SYSTEMD ]] || become_systemd
    run_command
  fi
fi
sync
# The machine is set to end where it would start again.
echo b >/proc/sysrq-trigger
