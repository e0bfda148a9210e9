# shellcheck shell=bash
# Sourced by the tests that run on the host: a check's verdict, said and kept. A line has the verdict (passed, failed or
# skipped), the check's name, its seconds and, unless it passed, why; between them are tabs. The file that
# TAPEDECK_RESULTS names, if it does, gets the same lines.

# keep_results: passes its input on; the verdicts in it are kept.
keep_results() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ ! $line =~ ^(passed|failed|skipped)$'\t' || -z ${TAPEDECK_RESULTS:-} ]] || printf '%s\n' "$line" >>"$TAPEDECK_RESULTS"
  done
}

# say_result VERDICT NAME SECONDS [WHY]
say_result() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" | keep_results; }

# why_failed STATUS LOG: the line that says it, or GoogleTest's first failure.
why_failed() {
  grep -m 1 '^FAILED' "$2" || grep -m 1 -A 4 ': Failure$' "$2" | tr '\n\t' '  ' | grep . || echo "exit status $1"
}

# result_of STATUS NAME SECONDS LOG: by the exit status of what wrote that log, which follows if it failed.
result_of() {
  case $1 in
    0) say_result passed "$2" "$3" ;;
    77) say_result skipped "$2" "$3" "$(sed -n 's/^skipped: //p' "$4" | tail -n 1)" ;;
    *) say_result failed "$2" "$3" "$(why_failed "$1" "$4")" ;;
  esac
  sed 's/^/    /' "$4"
  (($1 == 0 || $1 == 77))
}
