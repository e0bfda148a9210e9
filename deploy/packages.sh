#!/usr/bin/env bash
# Makes the Debian packages tapedeck-storage, tapedeck-worker, tapedeck-cli and tapedeck-dev, without FFTW and so without code under
# the GPL, into build-packages/packages. The same tree gives the same bytes: times are those of the last commit, or of SOURCE_DATE_EPOCH.
# If packages are there of the same tree, time and programs, they stay. TAPEDECK_PACKAGES_COMPRESSION=gzip makes them in less time.
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
DIR=$TAPEDECK_ROOT/build-packages
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$TAPEDECK_ROOT" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

tapedeck_install "${TAPEDECK_PACKAGES[@]}" dpkg-shlibdeps:dpkg-dev
tapedeck_install_if_can "${TAPEDECK_PAGE_PACKAGES[@]}" "${TAPEDECK_CEPH_PACKAGES[@]}"
# shellcheck disable=SC2034
TAPEDECK_TARGETS=(tapedeck-storage tapedeck-worker tapectl tapectl-extras tapedeck)
tapedeck_build_shown Building "$DIR/build.log" "$DIR" -DTAPEDECK_FFTW=OFF -DBUILD_TESTING=OFF
COMPRESSION=${TAPEDECK_PACKAGES_COMPRESSION:-xz}

# made_of: all that the packages' bytes come from.
made_of() {
  echo "$COMPRESSION $SOURCE_DATE_EPOCH"
  "$TAPEDECK_ROOT/deploy/ci/tree_hash.py" "$TAPEDECK_ROOT"
  sha256sum "$DIR"/bin/{tapedeck-storage,tapedeck-worker,tapectl} "$DIR"/gpu_worker/api/libtapedeck.so
}

if [[ $(made_of) != "$(cat "$DIR/packages/made_of" 2>/dev/null)" ]]; then
  rm -rf "$DIR/packages"
  (cd "$DIR" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE="$COMPRESSION") >"$DIR/cpack.log" 2>&1 || {
    tail -n 20 "$DIR/cpack.log" >&2
    exit 1
  }
  rm -rf "$DIR/packages/_CPack_Packages"
  made_of >"$DIR/packages/made_of"
fi
ls "$DIR"/packages/*.deb
