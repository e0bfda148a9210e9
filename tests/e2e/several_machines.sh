#!/usr/bin/env bash
# The commands of deploy/several_machines.md, as they are typed there and one after another, but for those that need a cluster.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# run COMMAND: a daemon runs beside the next ones.
run() {
  echo "\$ $1"
  if [[ $1 != *'&' ]]; then
    eval "$1" || fail "status $? of: $1"
    return
  fi
  eval "set -- ${1%&}"
  [[ $* =~ --listen\ [^\ ]*:([0-9]+) ]] || fail "no port: $*"
  start_service "$WORK/services.log" "${BASH_REMATCH[1]}" "$@"
}

begin_test
# The commands name them.
# shellcheck disable=SC2034
RATE=1000000 WORKER2=127.0.0.1:$(free_port) SECOND=127.0.0.1:$(free_port) THIRD=127.0.0.1:$(free_port)
TAPEDECK_STORAGE=127.0.0.1:$(free_port) TAPEDECK_WORKER=127.0.0.1:$(free_port)
export TAPEDECK_STORAGE TAPEDECK_WORKER
unset -f tapectl
PATH=$TAPEDECK_BIN:$PATH
"$TAPEDECK_ROOT/tests/e2e/readme_list.py" machines >"$WORK/commands"
(($(grep -c . "$WORK/commands") > 20)) || fail "no commands found in the page"
FIRST=$TAPEDECK_STORAGE
while read -r command <&4; do
  # What the list has for the first node stays that, whatever the commands export.
  run "${command//\$TAPEDECK_STORAGE/$FIRST}"
done 4<"$WORK/commands"
echo "the page's commands do what they say"
