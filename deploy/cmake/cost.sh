#!/usr/bin/env bash
# cost.sh FILE NAME COMMAND...: runs the command and adds a line to FILE: NAME, the processor seconds (user, system) of the command
# and of the processes that it waited for, and its exit status, with tabs between them. Nothing if it is interrupted.
# FILE.before has lines of a run that was broken off: a test that has ended there ends so again at once, unless it was skipped.
file=$1 name=$2 TIMEFORMAT=$'%U\t%S'
shift 2

# as_before: ends as the test did in the run that was broken off; of one that had only begun, what it left goes.
as_before() {
  local known user system status stem=${name#* }
  while IFS=$'\t' read -r known user system status; do
    [[ $known == "$name" && $status != 77 ]] || continue
    printf '%s\t%s\t%s\t%s\n' "$name" "$user" "$system" "$status" >>"$file"
    ((status == 0)) || echo "FAILED with status $status, before the run was broken off; the log has what it said"
    exit "$status"
  done <"$file.before"
  rm -f "${file%/*}/${stem//\//_}".{xml,tsv}
}

[[ ! -f $file.before ]] || as_before
trap 'exit 130' INT TERM HUP
{ said=$({ time "$@" 2>&3 >&4 3>&- 4>&-; } 2>&1); status=$?; } 3>&2 4>&1
cost=${said##*$'\n'}
[[ $said == "$cost" ]] || printf '%s\n' "${said%$'\n'*}" >&2 # the shell's own word of a signal
[[ ! -d ${file%/*} ]] || printf '%s\t%s\t%s\n' "$name" "$cost" "$status" >>"$file"
exit "$status"
