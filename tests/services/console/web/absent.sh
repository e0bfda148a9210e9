#!/usr/bin/env bash
# tests/services/console/web/absent.sh: a build without npm goes on, and its page says how to get the real one.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Everything that build.sh calls, but npm.
mkdir "$WORK/bin"
for program in bash cp dirname mkdir; do ln -s "$(command -v "$program")" "$WORK/bin/$program"; done
said=$(PATH=$WORK/bin "$ROOT/services/console/web/build.sh" "$WORK/page" "$WORK/assets.cc")
[[ $said == "console: built without its page: npm is not installed" ]] || fail "build.sh says: $said"

cat >"$WORK/print.cc" <<'CODE'
#include <iostream>

#include "services/console/assets.h"

int main() {
  for (const auto& asset : tapedeck::services::console::Assets()) std::cout.write(asset.bytes.data(), asset.bytes.size());
}
CODE
"${CXX:-c++}" -std=c++20 -I "$ROOT" "$WORK/print.cc" "$WORK/assets.cc" -o "$WORK/print"
page=$("$WORK/print")
[[ $page == "<!doctype html>"* ]] || fail "it is no page: $page"
# A command of the page configures again, else npm is not looked for again.
for words in 'apt-get install npm' 'cmake -B build -DTAPEDECK_PAGE=ON' 'cmake --build build --target tapedeck-storage' 'restart the storage node' '/api/'; do
  [[ $page == *"$words"* ]] || fail "the page lacks: $words"
done
grep -q 'option(TAPEDECK_PAGE ' "$ROOT/CMakeLists.txt" || fail "the build has no option TAPEDECK_PAGE"
