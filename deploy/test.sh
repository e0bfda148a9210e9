#!/usr/bin/env bash
# Builds, then runs every test and check that this machine can run. Says what it skipped and why, and
# ends with what failed and the line "N passed, N failed, N skipped". Exits 1 if anything failed.
#   deploy/test.sh          the short forms
#   deploy/test.sh --all    the long forms too: hours. tests/README.md names both.
#   deploy/test.sh --all --continue    goes on where such a run was broken off, if the tree is the same: what has ended counts as it did
#   deploy/test.sh --minutes N    has about so long: a slow machine skips fuzzing and the analysis by clang then
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

CI=$TAPEDECK_ROOT/deploy/ci
LOGS=$TAPEDECK_ROOT/build/test-logs
STARTED=$SECONDS
export TAPEDECK_WERROR=ON
PASSED=0 FAILED=0 SKIPPED=0
ALL=no MINUTES=
export TAPEDECK_CONTINUED=

while [[ $# -gt 0 ]]; do
  case $1 in
    --all) ALL=yes && shift ;;
    --continue) TAPEDECK_CONTINUED=yes && shift ;;
    --minutes) MINUTES=$2 && shift 2 ;;
    *) sed -n '2,7s/^# //p' "$0" && exit 2 ;;
  esac
done

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }

# What failed, a line each.
FAILURES=()

# end_with_counts: what failed once more, the closing line and exit status.
end_with_counts() {
  say "logs: $LOGS; all took $((SECONDS - STARTED)) s"
  ((${#FAILURES[@]} == 0)) || printf '  %s\n' "${FAILURES[@]}"
  echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
  ((FAILED == 0)) || exit 1
  exit 0
}

# add_junit NAME DIR STATUS: adds the cases of a ctest run in DIR. A run that failed without a failed case counts as one failure.
add_junit() {
  local counts passed=0 failed=0 skipped=0 report=$LOGS/$1.report line
  if [[ -f $2/junit.xml ]] && counts=$("$CI/counts.py" "$2/junit.xml" "$2/test-results" 2>"$report"); then
    read -r passed failed skipped <<<"$counts"
    while read -r line; do FAILURES+=("$1: $line"); done < <(grep '^  FAILED ' "$report")
    echo "$3" >"$LOGS/$1.done"
  fi
  cat "$report" 2>/dev/null || true
  if (($3 != 0 && failed == 0)); then
    failed=1
    FAILURES+=("FAILED $1 (log: $LOGS/$1.log)")
    tail -n 30 "$LOGS/$1.log"
  fi
  say "$1: $passed passed, $failed failed, $skipped skipped"
  PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
}

# run_checks NAME...: each deploy/ci/NAME.sh in turn; leaves its exit status and seconds in NAME.done.
run_checks() {
  local name began status
  for name in "$@"; do
    ! has_ended "$name" || continue
    began=$SECONDS status=0
    "$CI/$name.sh" >"$LOGS/$name.log" 2>&1 || status=$?
    echo "$status $((SECONDS - began))" >"$LOGS/$name.done"
  done
}

# has_ended NAME: whether that part had ended when the run was broken off.
has_ended() { [[ -n $TAPEDECK_CONTINUED && -f $LOGS/$1.done ]]; }

# checks NAMES NAMES: two lines of checks beside each other, each of which counts as one test.
checks() {
  local name
  # shellcheck disable=SC2086
  run_checks $1 &
  # shellcheck disable=SC2086
  run_checks $2
  wait
  for name in $1 $2; do count_check "$name"; done
}

# count_check NAME: as it ended.
count_check() {
  local status=1 took=0
  read -r status took <"$LOGS/$1.done" || true
  case $status in
    0) PASSED=$((PASSED + 1)) && say "$1: passed in $took s" ;;
    77) skip "$1" "$(sed -n 's/^skipped: //p' "$LOGS/$1.log" | tail -n 1)" ;;
    *)
      FAILED=$((FAILED + 1))
      FAILURES+=("FAILED $1")
      tail -n 30 "$LOGS/$1.log"
      say "$1: FAILED (log: $LOGS/$1.log)"
      ;;
  esac
}

skip() {
  SKIPPED=$((SKIPPED + 1))
  say "$1: skipped: $2"
}

# suite NAME DIR COMMAND...: a command that runs ctest in the build DIR.
suite() {
  local name=$1 dir=$2 status=0 began=$SECONDS
  shift 2
  if has_ended "$name"; then
    read -r status <"$LOGS/$name.done"
  else
    rm -f "$dir/junit.xml" "$LOGS/$name.report"
    "$@" >>"$LOGS/$name.log" 2>&1 || status=$?
  fi
  add_junit "$name" "$dir" "$status"
  sed -n 's/^\(Building.* took .*\)/  \1/p' "$LOGS/$name.log"
  say "$name took $((SECONDS - began)) s"
}

# begin_or_continue: goes on only in the same tree and form; else nothing is left of another run.
begin_or_continue() {
  local tree
  tree=$ALL-$("$CI/tree_hash.py" "$TAPEDECK_ROOT")
  if [[ -n $TAPEDECK_CONTINUED && $(cat "$LOGS/tree" 2>/dev/null) != "$tree" ]]; then
    say "the tree or the form is not that of the run before: begins anew"
    TAPEDECK_CONTINUED=
  fi
  [[ -n $TAPEDECK_CONTINUED ]] || rm -rf "$LOGS"/*.{done,log} "$TAPEDECK_ROOT"/build{,-asan,-tsan}/test-results
  echo "$tree" >"$LOGS/tree"
}

set_up() {
  mkdir -p "$LOGS"
  begin_or_continue
  tapedeck_install "${TAPEDECK_PACKAGES[@]}"
  tapedeck_install_if_can "${TAPEDECK_SPEED_PACKAGES[@]}" "${TAPEDECK_CEPH_PACKAGES[@]}" "${TAPEDECK_TEST_PACKAGES[@]}"
  # shellcheck disable=SC2034
  [[ $ALL == yes ]] || TAPEDECK_TARGETS=(tapedeck_plain)
  if ! tapedeck_build_shown Building "$LOGS/build.log" "$TAPEDECK_ROOT/build" "${TAPEDECK_OPTIONAL_ROOMS[@]/%/=ON}"; then
    FAILED=1
    end_with_counts
  fi
}

# run_tests: unit suites run once in the short form: under sanitizers (run_asan).
run_tests() {
  local left_out=()
  [[ $ALL == yes ]] || left_out=(-LE "$TAPEDECK_SANITIZED_LABELS")
  suite tests "$TAPEDECK_ROOT/build" tapedeck_ctest "$TAPEDECK_ROOT/build" "${left_out[@]}"
}

# run_clang: what compiles with clang takes a quarter as long as all before it, where the compiler's cache is empty.
run_clang() {
  local so_far=$(((SECONDS - STARTED) / 60)) name
  if [[ -n $MINUTES ]] && ((so_far * 5 / 4 > MINUTES)); then
    for name in thread_safety fuzz; do
      skip "$name" "this machine is slow: $so_far of $MINUTES minutes are over; run deploy/ci/$name.sh"
    done
    checks "shell format" "packages proto"
  else
    checks "thread_safety shell format" "packages fuzz proto"
  fi
}

# say_costs: processor seconds beside those of the last landed commit, and what to commit of machines that passed.
say_costs() {
  local line
  "$CI/cost.py" "$TAPEDECK_ROOT/build" "$TAPEDECK_ROOT/build-asan"
  "$TAPEDECK_ROOT/tests/lab/record_passed.py" --show "$TAPEDECK_ROOT/build" | while read -r line; do
    echo "passed whole, to be noted by tests/lab/record_passed.py: $line"
  done
}

main() {
  local name
  [[ $ALL == no ]] || export TAPEDECK_LONG=1
  set_up
  run_tests
  suite asan "$TAPEDECK_ROOT/build-asan" "$CI/asan.sh"
  checks nowhere ""
  run_clang
  if [[ $ALL == yes ]]; then
    suite tsan "$TAPEDECK_ROOT/build-tsan" "$CI/tsan.sh"
    # Each of these uses all processors.
    checks "ungrouped tidy coverage images mutants" ""
  else
    for name in tsan ungrouped tidy coverage images mutants; do
      skip "$name" "takes long; run deploy/ci/$name.sh or deploy/test.sh --all"
    done
    say_costs
  fi
  end_with_counts
}

main
