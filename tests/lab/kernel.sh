# shellcheck shell=bash disable=SC2034
# Sourced by vm.sh: Debian's kernel package, unpacked in a cache outside the tree, and an initramfs that mounts the
# host's root. Whatever cannot be had is a skip: exit 77 with a line "skipped: WHY".

LAB_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/tapedeck-lab

skip() {
  echo "skipped: $*" >&2
  exit 77
}

need() { command -v "$1" >/dev/null || skip "$1 is not installed ($2)"; }

# newest_kernel_offered: the newest 6.1 kernel package of apt. The -cloud flavour, which has no rdma_rxe, and -rt do
# not match.
newest_kernel_offered() {
  apt-cache --names-only search '^linux-image-6\.1\.[0-9-]+-amd64$' 2>/dev/null | cut -d' ' -f1 | sort -V | tail -n 1
}

# download_kernel DIR: the package file, in DIR. A package list older than the archive is renewed once.
download_kernel() {
  local package attempt
  for attempt in 1 2; do
    package=$(newest_kernel_offered)
    if [[ -n $package ]] && (cd "$1" && apt-get -qq download "$package" >"$1/log" 2>&1); then
      return 0
    fi
    ((attempt == 2)) || [[ $(id -u) -ne 0 ]] || apt-get -qq update >/dev/null 2>&1 || true
  done
  skip "apt offers no linux-image-6.1.*-amd64 to download (Debian 12 does): ${package:-none found} $(tail -n 1 "$1/log" 2>/dev/null)"
}

# modules_in_order TREE VERSION NAME...: files of the modules with all they need, in the order of loading.
modules_in_order() {
  local tree=$1 version=$2 name
  for name in "${@:3}"; do
    modprobe -d "$tree" -S "$version" --show-depends "$name" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | awk '!seen[$0]++'
}

# make_initramfs TREE VERSION FILE: just enough to mount the host's root; all other modules are loaded from there.
make_initramfs() {
  local root=$1/initramfs module number=100
  mkdir -p "$root/bin" "$root/modules"
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$(dirname "${BASH_SOURCE[0]}")/initramfs_init.sh" "$root/init"
  chmod 755 "$root/init"
  while read -r module; do
    cp "$module" "$root/modules/$((number++))-${module##*/}"
  done < <(modules_in_order "$1" "$2" virtio_pci 9p 9pnet_virtio overlay)
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$3"
  rm -r "$root"
}

# unpack_kernel NAME: fills LAB_CACHE/NAME with vmlinuz, initramfs.gz, lib/modules.
unpack_kernel() {
  local work version
  work=$(mktemp -d "$LAB_CACHE/unpack.XXXXXX")
  download_kernel "$work"
  dpkg-deb -x "$work"/linux-image-*.deb "$work/tree"
  version=$(basename "$work"/tree/lib/modules/*)
  depmod -b "$work/tree" "$version"
  mkdir "$work/done"
  make_initramfs "$work/tree" "$version" "$work/done/initramfs.gz"
  mv "$work/tree/boot/vmlinuz-$version" "$work/done/vmlinuz"
  mv "$work/tree/lib" "$work/done/lib"
  mv "$work/done" "$LAB_CACHE/$1"
  rm -r "$work"
}

# find_kernel: KERNEL is a folder with vmlinuz, initramfs.gz, lib/modules. One made before is used as it is, so that
# no network is needed; remove the cache to get a newer kernel. A changed initramfs has a folder of its own.
find_kernel() {
  local name
  need qemu-system-x86_64 "package qemu-system-x86"
  name=kernel-6.1-$(sha256sum "$(dirname "${BASH_SOURCE[0]}")"/{kernel,initramfs_init}.sh | sha256sum | cut -c1-12)
  KERNEL=$LAB_CACHE/$name
  [[ -e $KERNEL/vmlinuz ]] && return 0
  need busybox "package busybox-static"
  need cpio "package cpio"
  need modprobe "package kmod"
  need apt-get "the kernel comes from Debian's packages"
  mkdir -p "$LAB_CACHE"
  {
    flock 9
    [[ -e $KERNEL/vmlinuz ]] || unpack_kernel "$name"
  } 9>"$LAB_CACHE/lock"
}
