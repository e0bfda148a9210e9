#!/usr/bin/env bash
# The commands that the READMEs give, but for those that tests/guide pastes: each runs as it is typed there, but for what readme.table says
# of it. A command that the table does not name is run.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"

# list WHICH: as readme_list.py has it.
list() { "$TAPEDECK_ROOT/tests/e2e/readme_list.py" "$@"; }

# is_in_sources SUITE: of a test program that is not built here.
is_in_sources() { grep -rqE "^(TEST(_F|_P)?|TYPED_TEST)\(${1##*/}," "$TAPEDECK_ROOT/tests" --include='*.cc' --include='*.cu'; }

# What stands for a command that runs elsewhere is an entry of the build's tests.
elsewhere_is_there() {
  local name build=${TAPEDECK_BIN%/bin}
  [[ -e $build/CTestTestfile.cmake ]] || return 0
  ctest --test-dir "$build" -N >"$WORK/entries"
  while read -r name; do
    grep -q ": $name\$" "$WORK/entries" || is_in_sources "$name" || fail "readme.table: ctest has no entry $name"
  done < <(list elsewhere)
}

# A directory that looks as the repository does after a build.
in_home() {
  local entry
  mkdir -p "$WORK/home/build"
  for entry in "$TAPEDECK_ROOT"/*; do
    [[ ${entry##*/} == build* ]] || ln -s "$entry" "$WORK/home/"
  done
  ln -s "$TAPEDECK_BIN" "$WORK/home/build/bin"
  cd "$WORK/home"
}

# What the commands speak of: a LUN with a recording, one on a device, and a directory for the state as it is named.
make_luns() {
  ln -s "$WORK/state" "$WORK/deck"
  mkdir "$WORK/deck-data"
  tapectl lun create l0 --store posix --member "$WORK/deck-data" --capacity 1GiB
  tapectl channel create l0/c0 --sample-rate 1e6
  tapectl record l0/c0 --source synth --blocks 8
  truncate -s 128M "$WORK/device"
  tapectl lun create device --store device --member "$WORK/device"
}

# in_place_of PID PORT COMMAND: the service stops; where the command goes on, it is the service until its port answers.
in_place_of() {
  stop_service "$1"
  if [[ $3 == *'&' ]]; then
    eval "start_service $WORK/other.log $2 env ${3%&}" || fail "it does not start: $3"
    stop_service "$SERVICE_PID"
  else
    eval "$3" || fail "status $? of: $3"
  fi
}

# bench COMMAND: one that says that it lacks something here is left out.
bench() {
  (eval "$1") >"$WORK/bench.log" 2>&1 || {
    local status=$?
    grep -E "is missing; deploy/setup.sh|^skipped: " "$WORK/bench.log" || fail "status $status of: $1"
  }
}

# unit_test COMMAND: its program may be built under sanitizers alone, as deploy/test.sh does.
unit_test() {
  local program=${1%% *}
  if [[ -x $program ]]; then
    eval "$1" || fail "status $? of: $1"
  else
    grep "^build bin/${program##*/}:" "$TAPEDECK_BIN/../build.ninja" >/dev/null || fail "no such program: $program"
    echo "it is not built here: deploy/test.sh runs it under sanitizers"
  fi
}

# compile_and_link COMPILER ARGUMENT...: as the compiler does with these, which are files.cc, options and what is linked; where ccache
# is installed, it has what was compiled in another run.
compile_and_link() {
  local word options=() objects=() linked=()
  for word in "${@:2}"; do
    case $word in
      *.cc) objects+=("$word") ;;
      -I* | -f* | -std=*) options+=("$word") ;;
      *) linked+=("$word") ;;
    esac
  done
  for word in "${objects[@]}"; do
    CCACHE_NOHASHDIR=1 $(command -v ccache) "$1" "${options[@]}" -c "$word" -o "${word//\//-}.o" || return
  done
  objects=("${objects[@]//\//-}")
  "$1" "${options[@]}" "${objects[@]/%/.o}" "${linked[@]}"
}

# run COMMAND
run() {
  echo "\$ $1"
  case $1 in
    long:*) [[ -z ${TAPEDECK_LONG:-} ]] || run "${1#long: }" ;;
    *tapedeck-storage*) in_place_of "$STORAGE_PID" "$STORAGE_PORT" "$1" && start_storage ;;
    *tapedeck-worker*) in_place_of "$WORKER_PID" "$WORKER_PORT" "$1" && start_worker ;;
    build/bin/*_test*) unit_test "$1" ;;
    *bench*) bench "$1" ;;
    *) eval "$1" || fail "status $? of: $1" ;;
  esac
}

begin_test
list others >"$WORK/commands"
(($(wc -l <"$WORK/commands") > 25)) || fail "no commands found in the READMEs"
elsewhere_is_there
with_admin_ports
unset -f tapectl
PATH=$TAPEDECK_BIN:$PATH
in_home
make_luns
while read -r command <&4; do
  run "$command"
done 4<"$WORK/commands"
