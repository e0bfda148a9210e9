#!/usr/bin/env bash
# What ends a bench: a copy of the page gets the figures between the marks of that bench alone, with what is missed marked and its
# cause; a missed promise fails with --check only.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PLACE=$(mktemp -d -t tapedeck.XXXXXX)
trap 'rm -rf "$PLACE"' EXIT

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  exit 1
}

# conclude [OPTION...]: of a store that wrote with 0.9 of fio's rate.
conclude() {
  "$PLACE/conclude.py" --disk "$PLACE" "$@" '1_write_to_fio >= 0.95' '1_read_to_fio >= 0.95' 'write_ms.p50 <= 3' <<'END'
{"bench":"store","device":"host (kissfft)","ratios":{"1_write_to_fio":{"median":0.9,"min":0.8,"max":1},"1_read_to_fio":{"median":1.2,"min":1,"max":1.3}},
 "figures":{"write_ms":{"p50":2,"p99":9}},"machine":{"cores":2,"kernel":"6.1.0-x","memory_bytes":4e9,"load":0.5}}
END
}

cp "$HERE/conclude.py" "$PLACE/"
echo '{"store": {"1_write_to_fio": "a reason"}}' >"$PLACE/causes.json"
printf 'before\n<!-- store -->\nold\n<!-- end of store -->\nafter\n' >"$PLACE/README.md"
cp "$PLACE/README.md" "$PLACE/before"

said=$(conclude)
[[ $(jq -c '[.promises[].kept]' <<<"$said") == '[false,true,true]' ]] || fail "not what is kept: $said"
cmp "$PLACE/README.md" "$PLACE/before" || fail "the page has changed without --record"
if conclude --check >/dev/null 2>&1; then fail "a missed promise is no failure with --check"; fi
conclude --record >/dev/null
for line in 'before' 'after' '| 1_write_to_fio >= 0.95 | 0.9 | **missed**: a reason |' '| 1_read_to_fio >= 0.95 | 1.2 | kept |'; do
  grep -qxF "$line" "$PLACE/README.md" || fail "no line: $line in $(cat "$PLACE/README.md")"
done
! grep -q old "$PLACE/README.md" || fail "the last figures are still there"
grep -q "2 cores, Linux 6.1, 4 GB of memory" "$PLACE/README.md" || fail "not the machine: $(cat "$PLACE/README.md")"
grep -q "at the end, device host (kissfft)\.$" "$PLACE/README.md" || fail "not the device: $(cat "$PLACE/README.md")"
! grep -q "$(uname -n)" "$PLACE/README.md" || fail "the host's name is on the page"
printf 'nothing\n' >"$PLACE/README.md"
if conclude --record >/dev/null 2>&1; then fail "a page without a place takes figures"; fi
