# shellcheck shell=bash
# Sourced by deploy/images.sh and deploy/ci: a minimal Debian 12 as a tar file, by mmdebstrap, without documentation but the
# licences. Each is made once and kept in ~/.cache/tapedeck-images; remove that to have Debian's updates.

TAPEDECK_BASES=${XDG_CACHE_HOME:-$HOME/.cache}/tapedeck-images

# why_no_base: what is missing for one, or nothing.
why_no_base() {
  if [[ $(id -u) -ne 0 ]]; then
    echo "root is needed"
  elif ! command -v mmdebstrap >/dev/null; then
    echo "mmdebstrap is not installed"
  elif ! getent ahosts deb.debian.org >/dev/null && [[ -z ${http_proxy:-} ]]; then
    echo "Debian's mirror cannot be reached"
  fi
}

# tapedeck_base [PACKAGE...]: the path of a base that has those packages, too. All of Perl came along to
# merge /usr once, and goes.
tapedeck_base() {
  local include name tar
  include=$(printf '%s\n' usr-is-merged "$@" | sort -u | paste -sd,)
  name=$(sha256sum <<<"$include" | cut -c 1-12)
  tar=$TAPEDECK_BASES/bookworm-$name.tar
  if [[ ! -e $tar ]]; then
    mkdir -p "$TAPEDECK_BASES"
    # The hook's shell expands it.
    # shellcheck disable=SC2016
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$TAPEDECK_ROOT" log -1 --format=%ct)} \
      mmdebstrap --quiet --variant=minbase ${include:+"--include=$include"} \
      --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
      --dpkgopt='path-include=/usr/share/doc/tapedeck-*' --aptopt='APT::Install-Recommends "false"' \
      --customize-hook='chroot "$1" apt-get -q purge -y --autoremove usrmerge perl perl-modules-5.36 libperl5.36' \
      bookworm "$tar.part.tar" "deb http://deb.debian.org/debian bookworm main" \
      "deb http://deb.debian.org/debian-security bookworm-security main" >&2 || return
    mv "$tar.part.tar" "$tar"
  fi
  echo "$tar"
}

# tapedeck_base_for DIR [PACKAGE...]: the path of a base with all that the packages in DIR depend on, with RDMA's drivers, with what
# sets file capabilities, and with those PACKAGEs. One for all of them: making one takes longer than anything that is done with it.
tapedeck_base_for() {
  local deb dependencies
  mapfile -t dependencies < <(for deb in "$1"/*.deb; do dpkg-deb -f "$deb" Depends; done |
    tr ',' '\n' | sed 's/ *(.*//; s/|.*//; s/ //g' | sort -u)
  tapedeck_base "${dependencies[@]}" ibverbs-providers libcap2-bin "${@:2}"
}

# files_of ROOT: every file there, sorted, but for notes of dpkg and apt, logs, and the copies that tools for users make of their
# files. Two of these tell what packages leave.
files_of() {
  (cd "$1" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/log -o -path ./var/cache -o -path ./tmp -o \
    -path ./proc -o -path ./dev -o -path ./debs \) -prune -o -print | grep -vE '^./etc/(passwd|shadow|group|gshadow)-$' | sort)
}
