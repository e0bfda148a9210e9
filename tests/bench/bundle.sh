#!/usr/bin/env bash
# Puts what the benches and the tests on a GPU need into a folder, for a machine on which nothing can be installed: the programs of
# build/bin without what debuggers read, their libraries but for those of C and C++, jq, ss, iperf3 and memcached, and the scripts.
# There:
#   FOLDER/run tests/bench/gpu.sh --check        # any script of the bundle, or program
#   tests/bench/bundle.sh FOLDER [PROGRAM...]    # more programs of build/bin
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BIN=${TAPEDECK_BIN:-$ROOT/build/bin}
PROGRAMS=(tapedeck-storage tapedeck-worker tapectl tapedeck-emulator tapedeck-bench gpu_worker_pipeline_bench)
TOOLS=(jq ss iperf3)
# Without it the tests that need it are skipped there.
! command -v memcached >/dev/null || TOOLS+=(memcached)

if [[ $# -lt 1 || $1 == -* ]]; then
  sed -n '2,6s/^# \?//p' "$0" && exit 2
fi
FOLDER=$1
shift
# What says that a folder is a bundle, and may be made anew.
MARK=$FOLDER/.tapedeck-bundle
if [[ -e $FOLDER && ! -f $MARK ]]; then
  echo "bundle: $FOLDER is there, and no bundle: name another folder" >&2
  exit 2
fi

# libraries_of PROGRAM...: what the loader finds for them. What every machine has in a version that fits stays there: the loader,
# libc and what belongs to it, and libstdc++, of which any that is newer will do.
libraries_of() {
  ldd "$@" | awk '$3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s)\.so'
}

# What a bundle has from here is made anew; nothing else of the folder is touched.
rm -rf "${FOLDER:?}"/{bin,lib,tests,deploy,run}
mkdir -p "$FOLDER"/{bin,lib,tests}
touch "$MARK"
for program in "${PROGRAMS[@]}" "$@"; do strip --strip-debug -o "$FOLDER/bin/$program" "$BIN/$program"; done
for tool in "${TOOLS[@]}"; do cp -L "$(command -v "$tool")" "$FOLDER/bin/"; done
mapfile -t libraries < <(libraries_of "$FOLDER"/bin/*)
cp -L "${libraries[@]}" "$FOLDER/lib/"
cp -r "$ROOT/tests/bench" "$ROOT/tests/e2e" "$ROOT/tests/gpu_worker" "$FOLDER/tests/"
rm -rf "$FOLDER"/tests/e2e/*/node_modules
mkdir "$FOLDER/deploy"
cp "$ROOT/deploy/services.sh" "$FOLDER/deploy/"
cat >"$FOLDER/run" <<'RUN'
#!/usr/bin/env bash
# run COMMAND [ARGUMENT...]: a script or program of this bundle, with its programs and libraries.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$HERE" || exit
export PATH=$HERE/bin:$PATH TAPEDECK_BIN=$HERE/bin LD_LIBRARY_PATH=$HERE/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$@"
RUN
chmod +x "$FOLDER/run"
du -sh "$FOLDER"
