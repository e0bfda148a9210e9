#!/usr/bin/env bash
# The help of each command fits a terminal of 80 and of 40 columns, and its examples are lines that tapectl takes. Lists fit, too:
# columns go in a stated order, and names stay whole.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# commands_in HELP: the terms below "Commands:".
commands_in() { sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) *.*/\1/p' <<<"$1"; }

# all_commands: "NOUN VERB" of each that can be given, a line each.
all_commands() {
  local noun verbs
  for noun in $(commands_in "$(tapectl help)"); do
    verbs=$(commands_in "$(tapectl help "$noun")")
    # shellcheck disable=SC2086
    if [[ -z $verbs ]]; then echo "$noun"; else printf "$noun %s\n" $verbs; fi
  done
}

examples_in() { sed -n '/^Examples:/,/^$/s/^  //p' <<<"$1"; }

# expect_fits COLUMNS TEXT WHAT: each line but those of one word alone.
expect_fits() {
  local long
  long=$(awk -v most="$1" '/^Examples:/ {exit} length($0) > most && NF > 1' <<<"$2")
  [[ -z $long ]] || fail "$3 is wider than $1 columns: $long"
}

# expect_taken LINE: it fails at most for want of a node.
expect_taken() {
  local words status=0
  eval "words=(${1#tapectl })"
  (
    cd "$WORK/scratch"
    export TAPEDECK_STORAGE=127.0.0.1:1 TAPEDECK_WORKER=127.0.0.1:1
    timeout 2 "$TAPEDECK_BIN/tapectl" --timeout 1s "${words[@]}" >"$WORK/answer" 2>&1 </dev/null
  ) || status=$?
  ((status != 2)) || fail "an example is refused: $1: $(cat "$WORK/answer")"
}

check_helps() {
  local command text line count=0
  mkdir "$WORK/scratch"
  while read -r command; do
    # shellcheck disable=SC2086
    text=$(COLUMNS=80 tapectl help $command)
    expect_fits 80 "$text" "the help of $command"
    # shellcheck disable=SC2086
    expect_fits 40 "$(COLUMNS=40 tapectl help $command)" "the help of $command"
    [[ -n $(examples_in "$text") || $command == "completion words" ]] || fail "$command has no example"
    while read -r line; do
      [[ $line != "tapectl "* || $line == *" | "* ]] || expect_taken "$line"
    done < <(examples_in "$text")
    count=$((count + 1))
  done < <(all_commands)
  ((count > 50)) || fail "only $count commands are in the help"
  [[ $(tapectl version) == "$(tapectl --version)" ]] || fail "tapectl version and --version differ"
  [[ $(tapectl help record) == "$(tapectl record --help)" ]] || fail "tapectl help record and record --help differ"
}

# Of a command with more than ten options each has a heading, but for the help.
check_headings() {
  local command text
  while read -r command; do
    # shellcheck disable=SC2086
    text=$(COLUMNS=80 tapectl help $command)
    (($(grep -c '^  -' <<<"$text") > 10)) || continue
    (($(sed -n '/^Options:/,/^$/p' <<<"$text" | grep -c '^  -') <= 2)) || fail "options of $command have no heading: $text"
  done < <(echo && all_commands)
  grep -q '^Pace:' <<<"$(tapectl help play)" || fail "play has no heading Pace"
}

# at_terminal COLUMNS ARGUMENT...: what tapectl prints there.
at_terminal() {
  local columns=$1
  shift
  script -qec "stty cols $columns rows 24; $(printf '%q ' "$TAPEDECK_BIN/tapectl" "$@")" /dev/null | tr -d '\r'
}

check_lists() {
  local text id columns
  start_storage
  start_worker
  lun_with_channel posix l0/c0 cf32_le 1MiB
  tapectl record l0/c0 --source synth --blocks 2 >/dev/null 2>&1
  id=$(tapectl_json recordings list | jq -r '.recordings[0].name' | sed 's,luns/,,; s,channels/,,; s,recordings/,,')
  for columns in 40 80; do
    text=$(at_terminal "$columns" recordings list)
    expect_fits "$columns" "$text" "recordings list"
    grep -q "^$id  SEALED" <<<"$text" || fail "the list at $columns columns has not the whole name $id: $text"
    for list in "lun list" "channel list" "jobs list"; do
      # shellcheck disable=SC2086
      expect_fits "$columns" "$(at_terminal "$columns" $list)" "$list"
    done
  done
  text=$(at_terminal 40 --wide recordings list)
  grep -q '^NAME .*SEGMENTS$' <<<"$text" || fail "--wide leaves columns out: $text"
  tapectl lun show l0 | grep -q '^capacity  ' || fail "lun show has no capacity: $(tapectl lun show l0)"
  tapectl channel show l0/c0 | grep -q '^datatype  *cf32_le$' || fail "channel show has no datatype: $(tapectl channel show l0/c0)"
  [[ $(tapectl -o json channel show l0/c0 | jq -r .name) == luns/l0/channels/c0 ]] || fail "-o json gives another channel"
}

begin_test
need script
check_helps
check_headings
check_lists
