#!/usr/bin/env bash
# buf lint over the contracts. buf comes from npm, exactly as proto/package-lock.json pins it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../proto"
buf=node_modules/@bufbuild/buf-linux-x64/bin/buf
if [[ $(uname -m) != x86_64 ]] || ! command -v npm >/dev/null; then
  echo "skipped: buf's pinned package needs npm and x86_64"
  exit 77
fi
if [[ ! -x $buf || package-lock.json -nt node_modules ]]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
"$buf" lint
