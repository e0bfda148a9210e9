#!/usr/bin/env bash
# The manual pages that tapectl makes of its help: each command has one, and neither groff nor mandoc finds anything wrong.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_test
mkdir "$WORK/man"
"$TAPEDECK_BIN/tapectl" manual --to "$WORK/man" >/dev/null
while read -r command; do
  [[ -s $WORK/man/tapectl-$command.1 ]] || fail "$command has no page"
  grep -q "^.*tapectl\\\\-${command}.*(1)" "$WORK/man/tapectl.1" || fail "tapectl.1 does not name $command"
done < <("$TAPEDECK_BIN/tapectl" completion words -- "" | cut -f 1)
for option in detach segment transform; do
  grep -q "${option//-/\\\\-}" "$WORK/man/tapectl-record.1" "$WORK/man/tapectl-play.1" || fail "no page has --$option"
done
grep -q '^\.SH EXIT STATUS' "$WORK/man/tapectl.1" || fail "no page has the exit status"
if "$TAPEDECK_BIN/tapectl" manual --to "$WORK/man" >/dev/null 2>"$WORK/again"; then fail "it writes over pages"; fi
tried=()
if command -v groff >/dev/null; then
  tried+=(groff)
  for page in "$WORK"/man/*.1; do
    wrong=$(groff -ww -man -Tutf8 -K utf8 -z "$page" 2>&1) || true
    [[ -z $wrong ]] || fail "groff: $wrong"
  done
fi
if command -v mandoc >/dev/null; then
  tried+=(mandoc)
  mandoc -T lint -W error "$WORK"/man/*.1 >"$WORK/lint" || fail "mandoc: $(<"$WORK/lint")"
fi
if command -v man >/dev/null; then
  tried+=(man)
  MANWIDTH=100 man -l "$WORK/man/tapectl-jobs.1" >"$WORK/shown" 2>&1 || fail "man: $(<"$WORK/shown")"
  grep -q 'tapectl jobs attach' "$WORK/shown" || fail "man shows: $(<"$WORK/shown")"
fi
echo "$(find "$WORK/man" -name '*.1' | wc -l) pages; looked at by: ${tried[*]:-none that is installed}"
