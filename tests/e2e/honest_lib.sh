# shellcheck shell=bash disable=SC2034
# Sourced after lib.sh by the tests of strangers: an honest recording beside them, which goes round a ring. In the long form it
# takes all that the machine gives; otherwise it waits for the node's disk with two slots, which tells as well what is lost.
RING=(posix --capacity 32MiB) HONEST_CHANNEL=(--block-bytes 64KiB --segment 4MiB) HONEST_OPTIONS=(--slots 2)
[[ -z ${TAPEDECK_LONG:-} ]] || RING=(memory --capacity 256MiB) HONEST_CHANNEL=(--block-bytes 1MiB) HONEST_OPTIONS=()

# make_ring CHANNEL...: in LUN l0.
make_ring() {
  local channel
  lun_of_kind "${RING[0]}" l0 "${RING[@]:1}" --full-policy ring
  for channel in "$@"; do tapectl channel create "l0/$channel" "${HONEST_CHANNEL[@]}" >/dev/null; done
}

# honest_recording CHANNEL: in the background, until stop_job.
honest_recording() { start_job record "l0/$1" --source synth --duration 1h "${HONEST_OPTIONS[@]}"; }

# honest_recording_alone CHANNEL SECONDS
honest_recording_alone() {
  honest_recording "$1"
  sleep "$2"
  stop_job
  is_whole "$ANSWER" "an honest recording alone"
}

# rate: MB/s of the job that has ended.
rate() { jq .mb_per_s <<<"$ANSWER"; }
