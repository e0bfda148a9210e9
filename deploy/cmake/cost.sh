#!/usr/bin/env bash
# cost.sh FILE NAME COMMAND...: runs the command and adds a line to FILE: NAME, the processor seconds (user, system) of the command
# and of the processes that it waited for, and its exit status, with tabs between them. Nothing if it is interrupted.
file=$1 name=$2 TIMEFORMAT=$'%U\t%S'
shift 2
trap 'exit 130' INT TERM HUP
{ said=$({ time "$@" 2>&3 >&4 3>&- 4>&-; } 2>&1); status=$?; } 3>&2 4>&1
cost=${said##*$'\n'}
[[ $said == "$cost" ]] || printf '%s\n' "${said%$'\n'*}" >&2 # the shell's own word of a signal
[[ ! -d ${file%/*} ]] || printf '%s\t%s\t%s\n' "$name" "$cost" "$status" >>"$file"
exit "$status"
