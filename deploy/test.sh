#!/usr/bin/env bash
# Builds, then runs every test and check that this machine can run. Says what it skipped and why, and
# ends with the line "N passed, N failed, N skipped". Exits 1 if anything failed.
#   deploy/test.sh          three quarters of an hour on two cores with a warm compiler cache; longer from nothing
#   deploy/test.sh --all    with the long checks: ThreadSanitizer, clang-tidy, coverage
set -euo pipefail
# shellcheck source=deploy/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

CI=$TAPEDECK_ROOT/deploy/ci
LOGS=$TAPEDECK_ROOT/build/test-logs
PASSED=0 FAILED=0 SKIPPED=0

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }

# end_with_counts: the closing line and exit status.
end_with_counts() {
  say "logs: $LOGS"
  echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
  ((FAILED == 0)) || exit 1
  exit 0
}

# add_junit NAME FILE STATUS: adds a ctest run's cases. A run that failed without a failed case counts as one failure.
add_junit() {
  local counts passed failed skipped
  if [[ -f $2 ]] && counts=$("$CI/counts.py" "$2"); then
    read -r passed failed skipped <<<"$counts"
  else
    passed=0 failed=0 skipped=0
  fi
  if (($3 != 0 && failed == 0)); then
    failed=1
    echo "  FAILED $1 (log: $LOGS/$1.log)"
    tail -n 30 "$LOGS/$1.log"
  fi
  say "$1: $passed passed, $failed failed, $skipped skipped"
  PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
}

# check NAME: runs deploy/ci/NAME.sh; it counts as one test.
check() {
  local status=0
  "$CI/$1.sh" >"$LOGS/$1.log" 2>&1 || status=$?
  case $status in
    0) PASSED=$((PASSED + 1)) && say "$1: passed" ;;
    77) skip "$1" "$(sed -n 's/^skipped: //p' "$LOGS/$1.log" | tail -n 1)" ;;
    *)
      FAILED=$((FAILED + 1))
      tail -n 30 "$LOGS/$1.log"
      say "$1: FAILED (log: $LOGS/$1.log)"
      ;;
  esac
}

skip() {
  SKIPPED=$((SKIPPED + 1))
  say "$1: skipped: $2"
}

# suite NAME JUNIT COMMAND...: a command that runs ctest and leaves a JUnit file.
suite() {
  local name=$1 junit=$2 status=0
  shift 2
  rm -f "$junit"
  "$@" >"$LOGS/$name.log" 2>&1 || status=$?
  add_junit "$name" "$junit" "$status"
}

set_up() {
  mkdir -p "$LOGS"
  tapedeck_install "${TAPEDECK_PACKAGES[@]}"
  tapedeck_install "${TAPEDECK_TEST_PACKAGES[@]}" || say "set-up: test tools are missing; their checks will be skipped"
  say "building (log: $LOGS/build.log)"
  if ! tapedeck_build "$TAPEDECK_ROOT/build" >"$LOGS/build.log" 2>&1; then
    tail -n 40 "$LOGS/build.log"
    FAILED=1
    end_with_counts
  fi
}

main() {
  local name
  set_up
  suite tests "$TAPEDECK_ROOT/build/junit.xml" tapedeck_ctest "$TAPEDECK_ROOT/build" \
    --output-junit "$TAPEDECK_ROOT/build/junit.xml"
  for name in format shell proto thread_safety; do
    check "$name"
  done
  suite asan "$TAPEDECK_ROOT/build-asan/junit.xml" "$CI/asan.sh"
  if [[ ${1:-} == --all ]]; then
    suite tsan "$TAPEDECK_ROOT/build-tsan/junit.xml" "$CI/tsan.sh"
    check tidy
    check coverage
  else
    for name in tsan tidy coverage; do
      skip "$name" "takes long; run deploy/ci/$name.sh or deploy/test.sh --all"
    done
  fi
  end_with_counts
}

main "$@"
