#!/bin/busybox sh
# shellcheck shell=sh
# The first program in the virtual machine: makes the host's root, read-only over virtio-9p under a tmpfs, the root
# of the machine, and hands over to the boot script that vm.sh left in its run folder.
set -e
/bin/busybox mkdir -p /proc /sys /dev /sbin /usr/bin /usr/sbin /host /writes /newroot
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do
  insmod "$module"
done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t tmpfs -o size=75% tmpfs /writes
mkdir /writes/upper /writes/work
mount -t overlay -o lowerdir=/host,upperdir=/writes/upper,workdir=/writes/work overlay /newroot
mount --move /proc /newroot/proc
mount --move /sys /newroot/sys
mount --move /dev /newroot/dev
mount -t tmpfs tmpfs /newroot/run
mkdir /newroot/run/lab
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none lab /newroot/run/lab
exec switch_root /newroot /bin/bash /run/lab/boot
