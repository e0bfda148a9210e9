# shellcheck shell=bash disable=SC2034
# Sourced by every test here: starts its own services, always stops them, shows their logs when it
# fails. Exit 77 means skipped, with a line "skipped: WHY".
set -Eeuo pipefail
# In a subshell the message might become part of an answer.
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
source "${BASH_SOURCE[0]%/*}/../../deploy/services.sh"
# Debian's Python, which has Debian's packages and is no shim; also of the programs that a test starts. A link to what is not here is
# passed over.
PATH=$TAPEDECK_ROOT/tests/e2e/programs:$PATH
DATA=${TAPEDECK_DATA:-$TAPEDECK_ROOT/../shared/data}
MIB=$((1024 * 1024))

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# jq compiles its own library each time it starts and takes ten times as long as gojq, which sorts keys unasked, and refuses to be asked.
if JQ=$(command -v gojq); then
  jq() {
    local option options=()
    for option in "$@"; do [[ $option == -S || $option == --sort-keys ]] || options+=("$option"); done
    "$JQ" "${options[@]}"
  }
else
  JQ=jq
fi

need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# packages_in FOLDER SECONDS: makes its node_modules as package-lock.json there pins them, or leaves why not in WORK/npm.log. The user's
# cache keeps them for other copies of the tree, in which npm would unpack them anew.
packages_in() {
  local kept
  [[ $1/package-lock.json -nt $1/node_modules ]] || return 0
  kept=${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/tapedeck/npm/$(sha256sum <"$1/package-lock.json")
  kept=${kept%% *}
  rm -rf "$1"/node_modules{,.new}
  if [[ ! -d $kept ]] || ! cp -al "$kept" "$1/node_modules.new" 2>"$WORK/npm.log"; then
    rm -rf "$1/node_modules.new"
    (cd "$1" && timeout "$2" npm ci --no-audit --no-fund --loglevel=error) >"$WORK/npm.log" 2>&1 || return
    { mkdir -p "${kept%/*}" && cp -al "$1/node_modules" "$kept.$$" && mv -T "$kept.$$" "$kept"; } 2>/dev/null || rm -rf "$kept.$$"
    return 0
  fi
  touch "$1/node_modules.new"
  mv "$1/node_modules.new" "$1/node_modules"
}

# with_packages FOLDER WHAT: npm's. Several tests may want them at once.
with_packages() {
  need node
  need npm
  (flock 9 && packages_in "$1" "${3:-120}") 9>"$1/.npm.lock" || skip "npm cannot get $2: $(tail -n 1 "$WORK/npm.log")"
}

# say_where_threads_wait PID: where each thread of a service is in the kernel, which tells a disk from a lost wake-up.
say_where_threads_wait() {
  local thread
  echo "--- threads of $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -d' ' -f1)"
  for thread in "/proc/$1/task"/*; do
    echo "$(<"$thread/comm"): $(awk '{print $2}' "$thread/stack" 2>/dev/null | head -n 4 | tr '\n' ' ')"
  done | sort | uniq -c
}

# say_who_has_ended: services that no longer run, with the status of each: 139 is a crash, 137 a kill, by the test or for memory.
say_who_has_ended() {
  local pid status
  for pid in "${SERVICE_PIDS[@]}"; do
    is_running "$pid" && continue
    status=0
    wait "$pid" 2>/dev/null || status=$?
    echo "--- service $pid has ended with status $status"
  done
}

end_test() {
  local status=$? log pid
  if ((status != 0 && status != 77)); then
    say_who_has_ended >&2
    for pid in "${SERVICE_PIDS[@]}"; do ! is_running "$pid" || say_where_threads_wait "$pid" 2>/dev/null || true; done >&2
    for log in "$WORK"/*.log; do
      [[ -e $log ]] || continue
      echo "--- end of ${log##*/}" >&2
      tail -n 40 "$log" >&2
    done
  fi
  services_end
  for pid in $(jobs -rp); do
    kill "$pid" 2>/dev/null || true
  done
  exit "$status"
}

# Makes WORK and sees that it and every service end with the test.
begin_test() {
  need jq
  services_begin
  trap end_test EXIT
  trap 'exit 130' INT TERM
}

# scaled NUMBER [LEAST]: less of it, but some, where everything is emulated (TAPEDECK_E2E_PERCENT).
scaled() {
  local number=$(($1 * ${TAPEDECK_E2E_PERCENT:-100} / 100)) least=${2:-8}
  echo $((number > least ? number : least))
}

# lun_of_kind memory|posix|direct|device|rados LUN [OPTION...]: on a member of its own. A memory LUN takes all of its memory when it
# is made, which may last some seconds; one on Ceph needs STORAGE_OPTIONS that name the cluster.
lun_of_kind() {
  local member=(--member "$WORK/member-$2")
  case $1 in
    memory) member=() ;;
    device) truncate -s 4G "$WORK/member-$2" ;;
    rados) member=(--member "rados:tape/$2-$$") ;;
    *) mkdir -p "$WORK/member-$2" ;;
  esac
  tapectl lun create "$2" --store "$1" "${member[@]}" "${@:3}" >/dev/null
}

# lun_with_channel STORE LUN/CHANNEL DATATYPE BLOCK_BYTES [CHANNEL OPTION...]: of CAPACITY, 2GiB by default.
lun_with_channel() {
  local channel=$2
  lun_of_kind "$1" "${2%/*}" --capacity "${CAPACITY:-2GiB}"
  tapectl channel create "$channel" --datatype "$3" --block-bytes "$4" --sample-rate 1e6 "${@:5}" >/dev/null
}

# apart: gives this script, and what it starts, three quarters of the processors, where there are eight or more; AS_OTHERS then
# runs a command on the rest. Else that has a lower priority: with the lowest, other programs would keep it from running.
apart() {
  local processors
  AS_OTHERS=(nice -n 5)
  mapfile -t processors < <(processors_of_this_script)
  ((${#processors[@]} >= 8)) || return 0
  local ours=$((${#processors[@]} * 3 / 4))
  AS_OTHERS=(taskset -c "$(IFS=, && echo "${processors[*]:ours}")")
  taskset -cp "$(IFS=, && echo "${processors[*]:0:ours}")" $$ >/dev/null
  echo "the services have $ours processors, the client $((${#processors[@]} - ours)) others"
}

processors_of_this_script() {
  taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done
}

# json_is JSON FILTER WHAT: fails unless jq's filter is true. jq 1.6 finds all well in no text at all.
json_is() {
  if [[ -z $1 ]] || ! jq -e "$2" >/dev/null <<<"$1"; then fail "$3: not ($2) in $1"; fi
}

# Nothing lost, damaged or left out.
is_whole() {
  json_is "$1" ".lost_blocks == 0 and .crc_errors == 0" "$2 lost or damaged blocks"
}

# is_salvaged RECORDING ACKNOWLEDGED WHAT: none of its blocks is damaged, a missing one was never acknowledged (rails run
# ahead of each other), and the others play.
is_salvaged() {
  local verified played
  verified=$(tapectl_json recordings verify "$1") || fail "$3 does not verify: $verified"
  json_is "$verified" "[.damaged[] | select(.sequence < $2)] == []" "$3: $2 blocks were acknowledged"
  played=$(tapectl_json play "$1" --sink verify) || true
  json_is "$played" ".crc_errors == 0 and .lost_blocks == $(jq .missing_blocks <<<"$verified")" "playing $3"
}

# Clock ticks of CPU time, user and system, that a process has used.
ticks() { awk '{sub(/.*\) /, ""); print $12 + $13}' "/proc/$1/stat"; }

# job [FILTER [JQ OPTION...]]: what jq says of the newest job of the worker; all of it, unless told.
job() { "$TAPEDECK_BIN/tapectl" --output json jobs list | "$JQ" -rc "${@:2}" "(.jobs[0] // {}) | ${1:-.}"; }

# has_sent PACKETS: the ports of the virtual machine, since it was booted. Read without starting a program.
has_sent() {
  local file packets sum=0
  for file in /sys/class/infiniband/rx*/ports/1/hw_counters/sent_pkts; do
    read -r packets <"$file"
    sum=$((sum + packets))
  done
  SENT=$sum
  ((sum >= $1))
}

# is_under_way BEFORE: JOB_PID has moved some blocks, or has ended. There is no time for tapectl in an emulated machine,
# where a job ends within a few of its calls: there the ports' packets tell, of 4096 bytes at most.
is_under_way() {
  kill -0 "$JOB_PID" 2>/dev/null || return 0
  if [[ $RAIL_KIND == verbs ]]; then
    has_sent "$1"
  else
    job_after_has_blocks "$1" "$(scaled 50)"
  fi
}

# job_after_has_blocks JOB BLOCKS: a newer job than that one has moved so many.
# shellcheck disable=SC2016
job_after_has_blocks() { job '.name != $before and .blocks >= $blocks' -e --arg before "$1" --argjson blocks "$2"; }

job_is_running() { job '.state == "RUNNING"' -e; }

goes_on() { if [[ $RAIL_KIND == verbs ]]; then kill -0 "$JOB_PID" 2>/dev/null; else job_is_running; fi; }

# start_job ARGUMENT...: runs tapectl in the background; its answer goes to WORK/job.json. Returns once some blocks
# have moved, sooner than which no test interferes.
start_job() {
  local before
  if [[ $RAIL_KIND == verbs ]]; then
    has_sent 0
    before=$((SENT + $(scaled 50) * 256))
  else
    before=$(job '.name // ""')
  fi
  tapectl_json "$@" >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 30 is_under_way "$before" || fail "the job did not get going: $(cat "$WORK/job.json" "$WORK/job.log")"
  goes_on || fail "the job had ended before anything could happen to it: $(cat "$WORK/job.json" "$WORK/job.log")"
}

# end_job: waits for it; ANSWER is its JSON, JOB_STATUS its exit status.
end_job() {
  JOB_STATUS=0
  wait "$JOB_PID" || JOB_STATUS=$?
  ANSWER=$(cat "$WORK/job.json")
}

# stop_job: seals the newest recording that is being made, which start_job began; then as end_job.
stop_job() {
  tapectl jobs stop "$(tapectl_json jobs list | jq -r '[.jobs[] | select(.state == "RUNNING" and .direction == "RECORD")][0].name')" >/dev/null
  end_job
}

is_closed() { tapectl_json recordings show "$1" | jq -e '.state == "SEALED" or .state == "SALVAGED"'; }

newest_recording() { tapectl_json recordings list --segments | jq -r '.recordings[0].name // empty'; }

# last_json_of TEXT: sets LAST_JSON to its last line that begins as JSON does.
last_json_of() {
  local line
  LAST_JSON=
  while IFS= read -r line; do [[ $line != '{'* ]] || LAST_JSON=$line; done <<<"$1"
}

# expect_error_in ANSWER CODE REASON: the answer's last JSON line holds an error with that code and reason (patterns).
expect_error_in() {
  local error code reason message
  last_json_of "$1"
  error=$(jq -r '.error | select(.) | "\(.code) \(.reason) \(.message // "" | @json)"' <<<"$LAST_JSON") || error=
  [[ -n $error ]] || fail "no JSON error in: $1"
  read -r code reason message <<<"$error"
  [[ $code =~ ^($2)$ ]] || fail "not the code $2: $error"
  [[ $reason =~ ^($3)$ ]] || fail "not the reason $3: $error"
  [[ $message != '""' ]] || fail "no message: $error"
}
