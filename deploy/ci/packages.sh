#!/usr/bin/env bash
# deploy/ci/packages.sh: makes the Debian packages, installs them in a Debian 12 of their own, records and plays there as the users
# that they made, builds the library's examples, and purges them: what is left is the data, and the user that it belongs to. No GPL
# library is loaded.
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
# shellcheck source=deploy/base.sh
source "$TAPEDECK_ROOT/deploy/base.sh"
PACKAGES=$TAPEDECK_ROOT/build-packages/packages
NAMES=(storage worker cli dev)
STARTED=()

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

inside() { chroot "$ROOT" "$@"; }

users() { cut -d: -f1 "$ROOT/etc/passwd" | sort; }

# check_settings NAME: the file that was installed is right, and dpkg asks before it replaces it.
check_settings() {
  local file=/etc/tapedeck/$1.yaml
  inside "/usr/bin/tapedeck-$1" --config "$file" --check-config || fail "$file is wrong"
  inside dpkg-query --status "tapedeck-$1" | grep -q "^ $file " || fail "$file is no conffile"
}

# start NAME: as its unit would, but for the state directory, which systemd makes.
start() {
  local name=$1 command
  inside install -d -o "tapedeck-$name" -g "tapedeck-$name" -m 0750 "/var/lib/tapedeck/$name"
  read -ra command < <(sed -n 's/^ExecStart=//p' "$ROOT/usr/lib/systemd/system/tapedeck-$name.service")
  chroot --userspec="tapedeck-$name:tapedeck-$name" "$ROOT" "${command[@]}" >>"$NOTES/$name.log" 2>&1 &
  STARTED+=($!)
  for _ in {1..200}; do
    ! grep -q ' ready" listen' "$NOTES/$name.log" || return 0
    sleep 0.05
  done
  fail "$name does not start: $(tail -n 5 "$NOTES/$name.log")"
}

record_and_play() {
  local answer
  start storage
  start worker
  grep -q 'device="host (kissfft)' "$NOTES/worker.log" || grep -q 'device="cuda' "$NOTES/worker.log" ||
    fail "the worker has no FFT: $(grep chosen "$NOTES/worker.log")"
  inside install -d -o tapedeck-storage -g tapedeck-storage /var/lib/tapedeck/storage/l0
  inside tapectl lun create l0 --store posix --member /var/lib/tapedeck/storage/l0 --capacity 64MiB >/dev/null
  inside tapectl channel create l0/c0 --block-bytes 64KiB --datatype cf32_le --sample-rate 1e6 >/dev/null
  inside tapectl record l0/c0 --source synth --fft 1024 --blocks 200 >/dev/null
  answer=$(inside tapectl --output json play l0/c0/latest --sink verify)
  jq -e '.blocks == 200 and .lost_blocks == 0 and .crc_errors == 0' <<<"$answer" >/dev/null || fail "playing: $answer"
  kill -TERM "${STARTED[@]}"
  wait "${STARTED[@]}" || fail "the programs end with status $?"
}

# build_examples: of the library, as they lie in its package; the compiler is this machine's.
build_examples() {
  local examples=$NOTES/examples
  if ! cmake -S "$ROOT/usr/share/doc/tapedeck-dev/examples" -B "$examples" -DCMAKE_PREFIX_PATH="$ROOT/usr" >"$NOTES/examples.log" 2>&1 ||
    ! cmake --build "$examples" --target record --target play >>"$NOTES/examples.log" 2>&1; then
    fail "the examples: $(tail -n 20 "$NOTES/examples.log")"
  fi
  cp "$examples/record" "$ROOT/tmp/"
  inside ldd /tmp/record >"$NOTES/record.ldd"
  grep -q '/lib/libtapedeck[.]so' "$NOTES/record.ldd" || fail "the example links another library: $(<"$NOTES/record.ldd")"
  ! grep -q 'not found' "$NOTES/record.ldd" || fail "missing: $(<"$NOTES/record.ldd")"
  rm "$ROOT/tmp/record"
}

# loads_no_gpl: FFTW is the library under the GPL that a build may load.
loads_no_gpl() {
  local loaded
  loaded=$(inside ldd /usr/bin/tapedeck-storage /usr/bin/tapedeck-worker /usr/bin/tapectl /usr/lib/libtapedeck.so)
  [[ $loaded != *"not found"* ]] || fail "missing: $loaded"
  [[ $loaded != *fftw* ]] || fail "FFTW is loaded"
}

# check_in_root: in namespaces of its own, whose end ends all of it.
check_in_root() {
  local name left
  ip link set lo up
  mount -t proc proc "$ROOT/proc"
  mount --rbind /dev "$ROOT/dev"
  # Without it malloc leaves ENOENT, which gRPC may take for connect's answer.
  mount --rbind /sys "$ROOT/sys"
  files_of "$ROOT" >"$NOTES/before"
  users >"$NOTES/users"
  inside sh -c 'dpkg --install /debs/*.deb' >"$NOTES/dpkg.log" 2>&1 || fail "$(tail -n 20 "$NOTES/dpkg.log")"
  for name in "${NAMES[@]}"; do
    [[ -s $ROOT/usr/share/doc/tapedeck-$name/copyright ]] || fail "no copyright of $name"
  done
  for name in tapedeck-storage tapedeck-worker tapectl; do inside "$name" --version; done
  dpkg-deb --contents "$ROOT"/debs/tapedeck-cli_*.deb >"$NOTES/cli-files"
  for name in man/man1/tapectl.1.gz man/man1/tapectl-record.1.gz bash-completion/completions/tapectl zsh/vendor-completions/_tapectl \
    fish/vendor_completions.d/tapectl.fish; do
    grep -q " ./usr/share/$name\$" "$NOTES/cli-files" || fail "tapedeck-cli has no /usr/share/$name"
  done
  for name in storage worker; do check_settings "$name"; done
  loads_no_gpl
  build_examples
  record_and_play
  inside dpkg --purge tapedeck-storage tapedeck-worker tapedeck-cli tapedeck-dev >"$NOTES/purge.log" 2>&1 || fail "$(tail -n 20 "$NOTES/purge.log")"
  grep -q 'stays in /var/lib/tapedeck/storage' "$NOTES/purge.log" || fail "it is not said where the data is: $(<"$NOTES/purge.log")"
  files_of "$ROOT" >"$NOTES/after"
  left=$(comm -3 "$NOTES/before" "$NOTES/after" | grep -vE '^\s+./var/lib/tapedeck(/(storage|worker)(/.*)?)?$' || true)
  [[ -z $left ]] || fail "left or lost: $left"
  [[ $(comm -13 "$NOTES/users" <(users) | paste -sd' ') == "tapedeck-storage tapedeck-worker" ]] || fail "users: $(users | paste -sd' ')"
  [[ -e $ROOT/var/lib/tapedeck/storage/l0/.tapedeck/lun.json ]] || fail "the data is gone: $(cat "$NOTES/purge.log"; ls -laR "$ROOT/var/lib/tapedeck")"
}

if [[ ${1:-} == --in ]]; then
  export TAPEDECK_STORAGE=127.0.0.1:7400 TAPEDECK_WORKER=127.0.0.1:7500 # no names are known there
  NOTES=$2 ROOT=$2/root
  check_in_root
  exit 0
fi
why=$(why_no_base)
if [[ -n $why ]]; then
  echo "skipped: $why"
  exit 77
fi
# Those to be given away are compressed by xz, which takes most of the time of making them; deploy/ci/images.sh has these.
TAPEDECK_PACKAGES_COMPRESSION=${TAPEDECK_LONG:+xz}
export TAPEDECK_PACKAGES_COMPRESSION=${TAPEDECK_PACKAGES_COMPRESSION:-gzip}
"$TAPEDECK_ROOT/deploy/packages.sh"
base=$(tapedeck_base_for "$PACKAGES")
WORK=$(mktemp -d)
trap 'rm -rf --one-file-system "$WORK"' EXIT
mkdir "$WORK/root"
tar -C "$WORK/root" -xf "$base"
mkdir "$WORK/root/debs"
cp "$PACKAGES"/*.deb "$WORK/root/debs"
unshare --mount --net --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" --in "$WORK"
echo "installed, recorded, played and purged: $(cd "$PACKAGES" && stat -c '%n %s' ./*.deb | paste -sd' ')"
