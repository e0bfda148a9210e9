#!/bin/sh
# install.sh NAME [PACKAGE...]: run while an image is built: installs the package tapedeck-NAME that lies beside this script, with
# what it depends on and PACKAGEs, and makes in /image the root that runs it. TAPEDECK_MEMLOCK=fileCap lets the program lock memory
# by a file capability.
set -eu
name=$1
shift
here=$(dirname "$0")
export DEBIAN_FRONTEND=noninteractive

# Volumes keep their owner: the number must not depend on what else is installed.
if [ "$name" != cli ]; then
  case $name in
    storage) id=7400 ;;
    worker) id=7500 ;;
  esac
  groupadd --system --gid "$id" "tapedeck-$name"
  useradd --system --uid "$id" --gid "$id" --no-create-home --home-dir "/var/lib/tapedeck/$name" --shell /usr/sbin/nologin "tapedeck-$name"
  install -m 0755 "$here/healthy.sh" /usr/bin/tapedeck-healthy
  install -d -o "$id" -g "$id" -m 0750 "/var/lib/tapedeck/$name"
fi

[ "${TAPEDECK_MEMLOCK:-}" != fileCap ] || set -- "$@" libcap2-bin
# A base that has them already is not asked for others.
if ! dpkg --status "$@" >/dev/null 2>&1 || ! dpkg --install "$here"/tapedeck-"$name"_*.deb; then
  apt-get -q update
  apt-get -q install -y --no-install-recommends "$@" "$here"/tapedeck-"$name"_*.deb
fi
if [ "${TAPEDECK_MEMLOCK:-}" = fileCap ]; then
  setcap cap_ipc_lock=+ep "/usr/bin/tapedeck-$name"
fi
"$here/closure.sh" "tapedeck-$name" /image
