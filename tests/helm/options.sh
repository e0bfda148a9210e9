#!/usr/bin/env bash
# Every option that the chart passes is one that the program knows.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# options CONTAINER: that any set passes to it.
options() {
  # shellcheck disable=SC2016
  /usr/bin/python3 -c 'import sys, yaml
sys.path.insert(0, sys.argv[1])
import policy
found = [word for path in sys.argv[3:] for _, _, spec in policy.pods(policy.load(path)) for c in policy.containers(spec)
         if c["name"] in sys.argv[2].split(",") for word in c.get("args", []) if word.startswith("--")]
print("\n".join(sorted(set(found))))' "$HERE" "$1" "$HERE"/golden/*.yaml
}

# unknown PROGRAM CONTAINER: of these what its help has not; tapectl's commands have helps of their own.
unknown() {
  local option help
  help=$("$TAPEDECK_BIN/$1" --help; [[ $1 != tapectl ]] || "$TAPEDECK_BIN/tapectl" record --help)
  for option in $(options "$2"); do grep -qE -- "(^|[ ,])$option( |\$)" <<<"$help" || echo "$1 $option"; done
}

begin_test
/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
missing=$(unknown tapedeck-storage storage; unknown tapedeck-worker worker; unknown tapectl tapectl,test)
[[ -z $missing ]] || fail "the chart passes what nobody knows: $missing"
