#!/usr/bin/env bash
# Installs what a build needs on Debian 12 (apt only, and only what is missing), then configures and
# builds into build/.
#   deploy/setup.sh            build and run: what deploy/demo.sh needs
#   deploy/setup.sh --tests    and what deploy/test.sh needs on top
# Sourced, it defines the functions below and does nothing.
set -euo pipefail

TAPEDECK_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# PACKAGE is looked up in dpkg; COMMAND:PACKAGE counts as there when the command is, from wherever.
TAPEDECK_PACKAGES=(
  g++:g++ make:make cmake:cmake ninja:ninja-build pkg-config:pkg-config
  protoc:protobuf-compiler grpc_cpp_plugin:protobuf-compiler-grpc grpc-proto
 libgrpc++-dev libssl-dev libprotobuf-dev libabsl-dev libisal-dev liburing-dev libsqlite3-dev libfftw3-dev libkissfft-dev
  libibverbs-dev librdmacm-dev libhwloc-dev libmicrohttpd-dev libfuse3-dev libhdf5-dev libarchive-dev libpcap-dev systemtap-sdt-dev
  libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libgtest-dev libgmock-dev
  jq:jq ss:iproute2 git:git /usr/bin/python3:python3
)
# What the store on Ceph is built with; without them it is left out.
TAPEDECK_CEPH_PACKAGES=(librados-dev libradospp-dev)
# What the demo is built without, where nothing is built yet.
TAPEDECK_OPTIONAL_ROOMS=(-DTAPEDECK_{RADOS,HDF5,FUSE,PAGE})
# What makes builds faster.
TAPEDECK_SPEED_PACKAGES=(ccache:ccache)
# What the console's page is built with; without them it is left out.
TAPEDECK_PAGE_PACKAGES=(npm:npm node:nodejs)
TAPEDECK_TEST_PACKAGES=(
  clang++:clang libclang-rt-dev clang-format:clang-format clang-tidy:clang-tidy iperf3:iperf3 fio:fio
  ucx_perftest:ucx-utils npm:npm node:nodejs chromium:chromium shellcheck:shellcheck codespell:codespell gcovr:gcovr
  qemu-system-x86_64:qemu-system-x86 busybox-static kmod cpio dmsetup e2fsprogs xfsprogs
  libibverbs-dev librdmacm-dev rdma-core ibverbs-providers ibv_devinfo:ibverbs-utils
  ceph-mon:ceph-mon ceph-osd:ceph-osd ceph:ceph-common
  mmdebstrap:mmdebstrap buildah:buildah crun:crun docker-compose:docker-compose
  getcap:libcap2-bin dpkg-shlibdeps:dpkg-dev systemd-analyze:systemd
  gojq:gojq mkfs.ext4:e2fsprogs rping:rdmacm-utils ib_write_bw:perftest valgrind:valgrind strace:strace curl:curl memcached:memcached dnsmasq:dnsmasq-base libfaketime
  tshark:tshark zsh:zsh fish:fish man:man-db groff:groff-base mandoc:mandoc fusermount3:fuse3 python3-soundfile python3-h5py python3-yaml python3-grpcio python3-protobuf python3-numpy python3-matplotlib mypy
)

tapedeck_missing_packages() {
  local entry
  for entry in "$@"; do
    if [[ $entry == *:* ]]; then
      command -v "${entry%:*}" >/dev/null 2>&1 || echo "${entry##*:}"
    else
      dpkg-query -W -f='${db:Status-Status}\n' "$entry" 2>/dev/null | grep -qx installed ||
        echo "$entry"
    fi
  done
}

# tapedeck_apt PACKAGE...: installs them; says what to do where it may not.
tapedeck_apt() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: installing needs root, and there is no sudo. As root, run:" >&2
      echo "  apt-get install --no-install-recommends $*" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  [[ -n ${TAPEDECK_APT_UPDATED:-} ]] || "${as_root[@]}" apt-get -q update || return 1
  TAPEDECK_APT_UPDATED=1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

# tapedeck_install ENTRY...: installs what is missing; touches apt only then.
tapedeck_install() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: no dpkg here, so nothing is installed; the build needs: ${*##*:}" >&2
    return 0
  fi
  mapfile -t missing < <(tapedeck_missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  echo "setup: installing ${missing[*]}"
  tapedeck_apt "${missing[@]}"
}

# tapedeck_install_if_can ENTRY...: the same for what nothing depends on. What cannot be had keeps the others from nothing.
tapedeck_install_if_can() {
  local package missing without
  tapedeck_install "$@" && return 0
  mapfile -t missing < <(tapedeck_missing_packages "$@")
  if [[ -n ${TAPEDECK_APT_UPDATED:-} ]]; then
    for package in "${missing[@]}"; do tapedeck_apt "$package" >/dev/null 2>&1 || true; done
  fi
  mapfile -t without < <(tapedeck_missing_packages "$@")
  [[ ${#without[@]} -eq 0 ]] || echo "setup: goes on without ${without[*]}"
}

# What tapedeck_build builds; all there is, unless a script says otherwise.
TAPEDECK_TARGETS=(all)

# tapedeck_build DIR [CMAKE ARGUMENT...]: configures and builds TAPEDECK_TARGETS. With TAPEDECK_WERROR=ON a warning fails the build.
tapedeck_build() {
  local dir=$1
  shift
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$TAPEDECK_ROOT}
  # What a file includes is read from the compiler's own list of it, instead of by preprocessing it once more.
  # What was compiled in one clone serves in another, whose name only its debug information has.
  export CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1
  # It asks for it to be told that precompiled headers are there, which it hashes as it does others.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
  # A directory that exists keeps the groups it has.
  [[ -e $dir/CMakeCache.txt ]] || set -- -DTAPEDECK_GROUP_FILES=24 "$@"
  rm -f "$dir/compile.costs"
  cmake -S "$TAPEDECK_ROOT" -B "$dir" -G Ninja ${TAPEDECK_WERROR:+-DTAPEDECK_WERROR=$TAPEDECK_WERROR} "$@" &&
    NINJA_STATUS='[%p] ' ninja -C "$dir" -j"$(nproc)" "${TAPEDECK_TARGETS[@]}"
}

# tapedeck_progress NAME: reads a build's output and tells how far it is: on a terminal in one line, else every 20 %.
tapedeck_progress() {
  local line percent told=-1
  while IFS= read -r line; do
    [[ $line =~ ^\[\ *([0-9]+)%\] ]] || continue
    percent=${BASH_REMATCH[1]}
    if [[ -t 1 ]]; then
      printf '\r%s %3d %%' "$1" "$percent"
    elif ((percent / 20 > told)); then
      told=$((percent / 20))
      echo "$1 $percent %"
    fi
  done
  [[ ! -t 1 ]] || echo
}

# tapedeck_build_shown NAME LOG DIR [CMAKE ARGUMENT...]: builds with a line of progress, and says what that took; on failure it
# shows the log's end.
tapedeck_build_shown() {
  local name=$1 log=$2 status=0 TIMEFORMAT
  shift 2
  mkdir -p "$(dirname "$log")"
  TIMEFORMAT="$name took %0R s, %0U s of processor time (user)"
  time {
    tapedeck_build "$@" 2>&1 | tee "$log" | tapedeck_progress "$name" || status=$?
  }
  ((status == 0)) || tail -n 40 "$log"
  return "$status"
}

# Labels of the suites that the short form of deploy/test.sh runs under sanitizers alone.
# shellcheck disable=SC2034
TAPEDECK_SANITIZED_LABELS='^(unit|conformance)$'

# tapedeck_ctest DIR [CTEST ARGUMENT...]: five tests at a time for two processors, since most of them wait.
# Leaves DIR/junit.xml, and what each entry tried in DIR/test-results. A test that fails has failed: none runs again.
# With TAPEDECK_CONTINUED what has ended there does not run again.
tapedeck_ctest() {
  local dir=$1 results=$1/test-results
  shift
  rm -f "$dir/junit.xml"
  if [[ -n ${TAPEDECK_CONTINUED:-} && -f $results/costs ]]; then
    cat "$results/costs" >>"$results/costs.before"
    rm "$results/costs"
  else
    rm -rf "$results"
    mkdir -p "$results"
  fi
  ctest --test-dir "$dir" -j"$((5 * $(nproc) / 2))" --output-on-failure --no-tests=error --output-junit "$dir/junit.xml" "$@"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  tapedeck_install "${TAPEDECK_PACKAGES[@]}"
  [[ ${1:-} != --tests ]] || tapedeck_install_if_can "${TAPEDECK_TEST_PACKAGES[@]}"
  tapedeck_install_if_can "${TAPEDECK_SPEED_PACKAGES[@]}" "${TAPEDECK_PAGE_PACKAGES[@]}" "${TAPEDECK_CEPH_PACKAGES[@]}"
  tapedeck_build_shown Building "$TAPEDECK_ROOT/build/build.log" "$TAPEDECK_ROOT/build" "${TAPEDECK_OPTIONAL_ROOMS[@]/%/=ON}"
fi
