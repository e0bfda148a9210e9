# shellcheck shell=bash disable=SC2034,SC2120
# Sourced after lib.sh by the tests of tapectl doctor: what it says.

# examine [OPTION...]: ANSWER is the doctor's, DOCTOR_STATUS its exit status.
examine() {
  DOCTOR_STATUS=0
  ANSWER=$(tapectl_json doctor "$@" 2>"$WORK/doctor.log") || DOCTOR_STATUS=$?
  if [[ -z $ANSWER ]] || ! jq -e .findings >/dev/null <<<"$ANSWER"; then fail "no findings in: $ANSWER $(cat "$WORK/doctor.log")"; fi
}

# finds CODE SEVERITY NODE [OPTION...]: among what the doctor says, with words and a fitting exit status.
finds() {
  local status=10
  [[ $2 != error ]] || status=11
  examine "${@:4}"
  json_is "$ANSWER" "any(.findings[]; .code == \"$1\" and .severity == \"$2\" and .node == \"$3\" and
    (.what | length) > 0 and (.why | length) > 0 and (.fix | length) > 0)" "the doctor does not find $1"
  ((DOCTOR_STATUS >= status)) || fail "exit status $DOCTOR_STATUS of a finding that is a $2"
  echo "found: $(jq -r ".findings[] | select(.code == \"$1\") | .code + \": \" + .what" <<<"$ANSWER" | head -n 1)"
}

is_healthy() {
  examine "$@"
  json_is "$ANSWER" 'all(.findings[]; .severity == "note")' "a healthy pair"
  ((DOCTOR_STATUS == 0)) || fail "exit status $DOCTOR_STATUS of a healthy pair"
}
