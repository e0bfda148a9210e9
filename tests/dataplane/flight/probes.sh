#!/usr/bin/env bash
# Both programs have the USDT probe of each kind of stamp, and of nothing else.
#   probes.sh BIN KINDS_H
set -euo pipefail
command -v readelf >/dev/null || { echo "skipped: readelf is not installed"; exit 77; }
kinds=$(sed -n 's/.*{Kind::k[A-Za-z]*, "\([a-z_]*\)"}.*/\1/p' "$2" | sort)
(($(wc -w <<<"$kinds") > 20)) || { echo "no kinds found in $2" >&2; exit 1; }
for program in tapedeck-storage tapedeck-worker; do
  probes=$(readelf -n "$1/$program" | awk '/Provider: tapedeck/ {getline; print $2}' | sort -u)
  [[ $probes == "$kinds" ]] || { echo "$program: $(diff <(echo "$kinds") <(echo "$probes"))" >&2; exit 1; }
done
