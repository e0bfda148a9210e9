# shellcheck shell=bash disable=SC2034
# Sourced after lib.sh: both services with an admin port, and what these answer.

# Starts both; sets STORAGE_ADMIN and WORKER_ADMIN.
with_admin_ports() {
  need curl
  STORAGE_ADMIN=$(free_port)
  WORKER_ADMIN=$(free_port)
  STORAGE_OPTIONS=(--admin "127.0.0.1:$STORAGE_ADMIN")
  WORKER_OPTIONS=(--admin "127.0.0.1:$WORKER_ADMIN")
  if ! start_storage; then
    ! grep -q "built without libmicrohttpd" "$WORK/storage.log" || skip "this build is without libmicrohttpd"
    fail "the storage node does not start"
  fi
  start_worker
}

# ask storage|worker PATH: the body of the answer, and status 22 if that is an error.
ask() {
  local port=$STORAGE_ADMIN
  [[ $1 == storage ]] || port=$WORKER_ADMIN
  curl -sS --fail-with-body --max-time 5 "http://127.0.0.1:$port$2"
}

# metric storage|worker NAME [LABEL...]: the sum of the samples that have these labels.
metric() {
  local samples label
  samples=$(ask "$1" /metrics | grep -E "^$2[{ ]") || fail "no $2 on the page of the $1"
  for label in "${@:3}"; do samples=$(grep -F "$label" <<<"$samples") || fail "no $2 with $label on the page of the $1"; done
  awk '{sum += $NF} END {printf "%.0f\n", sum}' <<<"$samples"
}

is_metric() { (($(metric "${@:2}") == $1)); }

# expect VALUE storage|worker NAME [LABEL...]: within some seconds, as a session tells of itself now and then.
expect() { wait_for 10 is_metric "$@" || fail "${*:2} is $(metric "${@:2}"), not $1"; }
