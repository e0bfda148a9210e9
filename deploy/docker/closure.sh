#!/bin/bash
# closure.sh PACKAGE DIR: copies into DIR, as a root of its own, what the programs of an installed package run on: their libraries,
# RDMA's drivers, a shell with the tools that are named below, the users, and the licences of all of it. dpkg's list there names the
# packages that something is taken of, and no other, so that whoever reads it finds what is in the image.
set -euo pipefail
PACKAGE=$1
INTO=$2
TOOLS=(bash sh cat date df env head id ls mkdir rm sleep stat tail touch tr)

# take PATH...: each with the directories above it, as they are; a link with what it leads to.
take() {
  local path
  for path in "$@"; do
    path=$(realpath --no-symlinks "$path")
    # Of two paths to one file that a merged /usr gives, the one without links on its way.
    path=$(realpath "$(dirname "$path")")/$(basename "$path")
    [[ -d $path || ! -e $INTO$path ]] || continue
    (cd / && cp --archive --parents --no-clobber ".$path" "$INTO")
    [[ ! -L $path ]] || take "$(realpath "$path")"
  done
}

# take_libraries FILE...: what the loader finds for them; fails where it lacks one.
take_libraries() {
  local found library
  found=$(ldd "$@" 2>/dev/null || true)
  ! grep 'not found' <<<"$found" >&2 || return 1
  while read -r library; do take "$library"; done < <(sed -nE 's/^[^/]*(\/[^ ]+) \(0x.*/\1/p' <<<"$found" | sort -u)
}

# packages_of FILE...: those that the files are of, by either of a file's paths in a merged /usr. dpkg fails where one is of none.
packages_of() { { dpkg --search "$@" "${@#/usr}" 2>/dev/null || true; } | sed -nE 's/^([a-z0-9.+-]+)(:[a-z0-9]+)?: .*/\1/p' | sort -u; }

# take_list: dpkg's entries and the licences of the packages that files in INTO are of.
take_list() {
  local files package
  mapfile -t files < <(find "$INTO" -mindepth 2 \( -type f -o -type l \) -printf '/%P\n')
  mkdir -p "$INTO/var/lib/dpkg"
  while read -r package; do
    dpkg-query --status "$package"
    echo
    take "/usr/share/doc/$package/copyright"
  done < <(packages_of "${files[@]}") >"$INTO/var/lib/dpkg/status"
}

mkdir -p "$INTO"
mapfile -t programs < <(dpkg --listfiles "$PACKAGE" | grep -E '^/usr/s?bin/.')
mapfile -t tools < <(type -P "${TOOLS[@]}")
# The directories and links of the root itself.
(cd / && find . -maxdepth 1 \( -type l -o -type d \) ! -name . ! -name install ! -name image -print0 | tar --create --no-recursion --null --files-from=- | tar --extract --directory "$INTO")
chmod 1777 "$INTO/tmp"
take "${programs[@]}" "${tools[@]}"
take_libraries "${programs[@]}" "${tools[@]}"
for file in /usr/bin/tapedeck-healthy /etc/{passwd,group,nsswitch.conf,os-release,debian_version,host.conf,gai.conf,ld.so.conf,ld.so.cache} \
  /etc/ssl/openssl.cnf /usr/share/common-licenses/*; do
  [[ ! -e $file ]] || take "$file"
done
for directory in /etc/libibverbs.d /etc/ld.so.conf.d /etc/tapedeck /var/lib/tapedeck; do
  [[ ! -d $directory ]] || cp --archive --parents "$directory" "$INTO"
done
if compgen -G '/usr/lib/*/libibverbs/*.so' >/dev/null; then
  take /usr/lib/*/libibverbs/*.so
  take_libraries /usr/lib/*/libibverbs/*.so
fi
take_list
