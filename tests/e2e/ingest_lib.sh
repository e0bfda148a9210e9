# shellcheck shell=bash disable=SC2034
# Sourced after lib.sh by the tests of the source ingest: recordings of what comes over the network.

# is_listening BEFORE: a newer job than that one says where it listens; PORT is that.
# shellcheck disable=SC2016
is_listening() {
  PORT=$(job 'select(.name != $before) | .notes[] | select(.code == "INGEST_LISTENS").port' --arg before "$1")
  [[ -n $PORT ]]
}

# begin_ingest PARAMETERS: records what comes to PORT. The channel is CHANNEL, RECORD_OPTIONS are of the recording.
CHANNEL=l0/c0
RECORD_OPTIONS=()
begin_ingest() {
  local before
  before=$(job '.name // ""')
  tapectl_json record "$CHANNEL" --source "ingest:$1" "${RECORD_OPTIONS[@]}" >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 15 is_listening "$before" || fail "nobody listens: $(cat "$WORK/job.json" "$WORK/job.log")"
  is_listening "$before"
}

# end_ingest: ANSWER is what the recording's job says at its end.
end_ingest() {
  end_job
  last_json_of "$ANSWER"
  ANSWER=$LAST_JSON
}

# record_stream udp|tcp EMULATOR_OPTION...: SENT is what the emulator says that it has sent. INGEST_OPTIONS are of the source.
INGEST_OPTIONS=
record_stream() {
  begin_ingest "$1=127.0.0.1:0$INGEST_OPTIONS"
  SENT=$("$TAPEDECK_BIN/tapedeck-emulator" "--$1" "127.0.0.1:$PORT" "${@:2}")
  end_ingest
}
