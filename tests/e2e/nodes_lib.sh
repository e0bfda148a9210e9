# shellcheck shell=bash disable=SC2034
# Sourced by tests with several storage nodes, after lib.sh. The test fills PORTS and ADDRESSES, by node.
PORTS=() PIDS=() ADDRESSES=()

# start_node I: again after a kill it keeps its port and state.
start_node() {
  start_service "$WORK/storage$1.log" "${PORTS[$1]}" "$TAPEDECK_BIN/tapedeck-storage" --listen "${ADDRESSES[$1]}" \
    --state "$WORK/state$1" "${STORAGE_RAILS[@]}" "${STORAGE_OPTIONS[@]}"
  PIDS[$1]=$SERVICE_PID
}

# at I ARGUMENT...: tapectl to that node alone, with JSON.
at() { TAPEDECK_STORAGE=${ADDRESSES[$1]} tapectl_json "${@:2}"; }

# over I...: the nodes of what follows.
over() {
  local i all=()
  for i in "$@"; do all+=("${ADDRESSES[i]}"); done
  TAPEDECK_STORAGE=$(IFS=, && echo "${all[*]}")
  export TAPEDECK_STORAGE
}

# shellcheck disable=SC2016
job_has_more_than() { job '.blocks > $blocks' -e --argjson blocks "$1"; }
# job_says CODE [CONDITION]: a note of the job, of which that holds, in jq.
job_says() { job ".notes | any(.code == \"$1\" and (${2:-true}))" -e; }
