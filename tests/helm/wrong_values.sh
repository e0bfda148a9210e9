#!/usr/bin/env bash
# Values that make no sense are refused, each with a message that names the value by its path and says what it may be.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_test
with_chart_tools
count=0
while IFS= read -r line; do
  [[ -n $line && $line != '#'* ]] || continue
  values=${line%% => *}
  path=${line#* => }
  help=${path#* => }
  path=${path%% => *}
  ! answer=$(helm template rel "$CHART" --kube-version "${KUBERNETES[0]}" --set "$values" 2>&1) || fail "taken: $values"
  grep -qF -- "$path" <<<"$answer" || fail "$values: the message does not name $path: $answer"
  grep -qF -- "$help" <<<"${answer//$path/}" || fail "$values: the message does not say '$help': $answer"
  count=$((count + 1))
done <"$HERE/wrong_values.table"
((count >= 30)) || fail "only $count wrong values"
echo "$count wrong values are refused"
