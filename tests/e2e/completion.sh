#!/usr/bin/env bash
# Tab in bash, zsh and fish: commands, options, their values, and the names that the nodes have. Nodes that do not answer
# cost a second and not a word on the terminal.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# in_SHELL LINE: what Tab makes of a line, or offers for its end; nothing may come on stderr.
in_bash() {
  bash --norc -c 'eval "$(tapectl completion bash)"; COMP_LINE=$1 COMP_POINT=${#1}; _tapectl tapectl; printf "%s\n" "${COMPREPLY[@]}"' - "$1"
}

# shellcheck disable=SC2016
in_fish() { fish --no-config -c 'tapectl completion fish | source; complete -C $argv[1]' "$1" | cut -f 1; }

# zsh completes in its editor alone: the line is typed, completed, and printed by a command put before it.
in_zsh() {
  # shellcheck disable=SC2016
  LINE=$1 zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; eval \"\$(tapectl completion zsh)\"; print READ\"\"Y"
    zpty -r -m shell text "*READY*"
    zpty -w -n shell "$LINE"$'"'\\t'"'
    zpty -w shell $'"'\\001'"'"print -r -- GOT:"
    zpty -r -m shell text "*"$'"'\\n'"'"GOT:*"$'"'\\n'"'"*"
    print -r -- "${${text##*$'"'\\n'"'GOT:}%%$'"'\\r'"'*}"
  '
}

# completes SHELL LINE WORD: the word is offered, or what the line ends with.
completes() {
  local got
  got=$(timeout 120 bash -c "in_$1 \"\$1\"" - "$2" 2>"$WORK/$1.err") || fail "$1: status $? for: $2"
  [[ ! -s $WORK/$1.err ]] || fail "$1 says: $(<"$WORK/$1.err")"
  # shellcheck disable=SC2001
  sed 's/ *$//' <<<"$got" | grep -qE "(^| )$3\$" || fail "$1 completes \"$2\" to: $got"
}

offers_nothing() {
  local got
  got=$("in_$1" "$2" 2>&1)
  read -r got <<<"$got"
  [[ -z $got || $got == "$2" ]] || fail "$1 offers for \"$2\": $got"
}

knows_names() {
  completes "$1" "tapectl recordin" recordings
  completes "$1" "tapectl lun del" delete
  completes "$1" "tapectl lun delete --fo" --force
  completes "$1" "tapectl channel create l/c --commit dur" durable
  completes "$1" "tapectl lun delete l" l0
  completes "$1" "tapectl record l0/c" l0/c0
  completes "$1" "tapectl play l0/c0/la" l0/c0/latest
  completes "$1" "tapectl recordings show l0/c0/${ID:0:6}" "l0/c0/$ID"
  completes "$1" "tapectl record l0/c0 --source syn" synth
  completes "$1" "tapectl record l0/c0 --source=syn" "(--source=)?synth"
  completes "$1" "tapectl record l0/c0 --source synth:see" "(synth:)?seed="
  completes "$1" "tapectl record l0/c0 --source synth:seed=1,no" "(synth:seed=)?1,noise="
  completes "$1" "tapectl channel create l0/x --datatype ci16_l" ci16_le
  completes "$1" "tapectl recordings copy l0/c0/$ID --to l0/c" l0/c0
}

# knows_files SHELL: in_bash does not ask readline, so that bash is asked for the word for it alone.
knows_files() {
  local line
  for line in "tapectl recordings import l0/c0 " "tapectl recordings export $ID --to=" "tapectl play $ID --sink file:"; do
    if [[ $1 == bash ]]; then
      # shellcheck disable=SC2086
      tapectl completion words -- ${line#tapectl }"$WORK/sam" | grep -q '^:files' || fail "no file for: $line"
    else
      completes "$1" "$line$WORK/sam" "[^ ]*$WORK/samples.bin"
    fi
  done
}

# knows_parameters: what is offered of a stage is what its worker says that it has.
knows_parameters() {
  local role stage answer offered
  local -A OF_ROLE=([source]=record [transform]=record [sink]=play)
  while read -r role stage; do
    [[ $stage != file ]] || continue # what follows it is a path
    offered=$(tapectl completion words -- "${OF_ROLE[$role]}" x "--$role" "$stage:" | sed 's/.*://; s/=.*//' | sort)
    answer=$(stage_refused "$role" "$stage" 2>&1) && fail "$role $stage takes what it has not"
    answer=$(sed -n 's/.*; it has \([a-z_, ]*\).*/\1/p' <<<"$answer" | tr -d ' ' | tr , '\n' | sed '/^none$/d' | sort)
    [[ $offered == "$answer" ]] || fail "$role $stage: offered $offered, and it has $answer"
  done < <(tapectl -o json nodes | jq -r '.nodes[].stages[]?')
}

# stage_refused ROLE STAGE: with what the stage needs, and a parameter that none has.
stage_refused() {
  local -A needs=([ingest]="udp=127.0.0.1:4000," [udp]="address=127.0.0.1:4000," [convert]="from=cf32_le,to=ci16_le,")
  local stage=$2:${needs[$2]:-}zzzzzz=1
  case $1 in
    source) tapectl record l0/c0 --blocks 1 --source "$stage" ;;
    sink) tapectl play "$ID" --sink "$stage" ;;
    transform) tapectl record l0/c0 --blocks 1 --source synth --transform "$stage" ;;
  esac
}

begin_test
start_storage
start_worker
CAPACITY=64MiB lun_with_channel memory l0/c0 cf32_le 64KiB
tapectl record l0/c0 --source synth --blocks 4 >/dev/null
ID=$(tapectl_json recordings list | jq -r '.recordings[0].name | split("/")[-1]')
unset -f tapectl
export PATH=$TAPEDECK_BIN:$PATH
export -f in_bash in_fish in_zsh
SHELLS=()
for shell in bash zsh fish; do
  command -v "$shell" >/dev/null && SHELLS+=("$shell") || echo "$shell is not installed, and so not tried"
done
touch "$WORK/samples.bin"
for shell in "${SHELLS[@]}"; do knows_names "$shell" && knows_files "$shell"; done
knows_parameters
kill -STOP "$STORAGE_PID"
for shell in "${SHELLS[@]}"; do offers_nothing "$shell" "tapectl lun delete l"; done
kill -CONT "$STORAGE_PID"
for shell in "${SHELLS[@]}"; do TAPEDECK_STORAGE=127.0.0.1:1 offers_nothing "$shell" "tapectl record l0/"; done
echo "${SHELLS[*]}: commands, options, values and names; nothing of nodes that do not answer"
