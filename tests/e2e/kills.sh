#!/usr/bin/env bash
# kill -9 of a storage node, a worker or tapectl at work. A row of kills/table says what stands where, what runs, who is killed and
# when, and what holds afterwards; the cycle is the same for all of them.
#   kills.sh ROW [--kills N] [--seed N]    N rounds, or as many as the row says; the seed is that of a run that failed
#   kills.sh --list                        the rows
HERE=$(dirname "${BASH_SOURCE[0]}")
source "$HERE/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$HERE/nodes_lib.sh"
# shellcheck source=tests/e2e/ingest_lib.sh
source "$HERE/ingest_lib.sh"
for part in work holds ledger several mirror standby moves tiers inlets; do
  # shellcheck source=/dev/null
  source "$HERE/kills/$part.sh"
done

TABLE=$HERE/kills/table
declare -A FIELDS=()
KILLED=0

# read_row: FIELDS has the fields of ROW, each a list of commands.
read_row() {
  local line key='' within=''
  while IFS= read -r line; do
    case $line in
      '' | '#'*) continue ;;
      'row '*) within=${line##* } ;;
      *)
        [[ $line == ' '* ]] || key=${line%% *}
        [[ $within != "$ROW" ]] || FIELDS[$key]+=${line#"$key"}
        ;;
    esac
  done <"$TABLE"
  [[ -n ${FIELDS[kill]:-} ]] || fail "the table has no row $ROW"
}

step() { eval "${FIELDS[$1]:-}"; }

# cycle: what runs is begun, or goes on; who is killed comes back in `back`.
cycle() {
  step site
  for ((ROUND = 0; ROUND < KILLS; ++ROUND)); do
    step runs
    step kill
    step away
    step back
  done
  step ends
}

[[ ${1:-} != --list ]] || { sed -n 's/^row *//p' "$TABLE" && exit; }
ROW=${1:-} SEED=$RANDOM
[[ -n $ROW ]] || { sed -n '2,5s/^# //p' "$0" && exit 2; }
read_row
# Of FEW/MANY the second is for the long form.
read -r FEW MANY < <(tr / ' ' <<<"${FIELDS[kills]:-1} ")
KILLS=${TAPEDECK_LONG:+${MANY:-$FEW}}
KILLS=${KILLS:-$FEW}
shift
while [[ $# -gt 0 ]]; do
  case $1 in
    --kills) KILLS=$2 && shift 2 ;;
    --seed) SEED=$2 && shift 2 ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done
RANDOM=$SEED
echo "$ROW: $KILLS rounds, seed $SEED"
begin_test
cycle
((KILLED >= KILLS)) || fail "$KILLED kills in $KILLS rounds"
echo "$ROW: $KILLED kills"
