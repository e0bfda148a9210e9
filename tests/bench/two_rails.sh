#!/usr/bin/env bash
# What a second TCP rail brings where processors are few: the programs record a file and play it to a sink that drops, over one
# rail, both, and the other, beside no, one and two busy loops. Prints both rails' rate against the better one's alone.
#   tests/bench/two_rails.sh [--rounds N] [--blocks N] [--loops "N..."] [--tries N] [--check]
# Each round takes all loads, and turns the order of the next; where other programs take more than a twentieth of the machine
# its runs are made again, eight times at most (--tries). --check exits 1 below 1.05 without loops or below 0.95 with them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=9 BLOCKS=2048 LOOPS=(0 1 2) TRIES=8 CHECK=no
LOOP_PIDS=()

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --blocks) BLOCKS=$2 && shift 2 ;;
    --loops) read -ra LOOPS <<<"$2" && shift 2 ;;
    --tries) TRIES=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

# begin_loops NUMBER: programs beside that never sleep.
begin_loops() {
  local i
  for ((i = 0; i < $1; i++)); do
    bash -c 'while :; do :; done' &
    LOOP_PIDS+=($!)
  done
}

end_loops() {
  local pid
  for pid in "${LOOP_PIDS[@]}"; do
    kill "$pid"
    wait "$pid" 2>/dev/null || true
  done
  LOOP_PIDS=()
}

# rates RAILS: {record, play} in MB/s, and what other programs took of the machine meanwhile.
rates() {
  local recorded played name
  processors_begin "$STORAGE_PID" "$WORKER_PID" "${LOOP_PIDS[@]}"
  recorded=$(tapectl_json record two/c0 --source "file:$WORK/blocks" --rails "$1")
  name=$(jq -r .recording <<<"$recorded")
  played=$(tapectl_json play "$name" --sink null --rails "$1")
  processors_end
  tapectl recordings delete "$name" >/dev/null
  jq -cn --argjson record "$recorded" --argjson play "$played" --argjson others "$PROCESSORS_OTHERS" \
    '{record: $record.mb_per_s, play: $play.mb_per_s, $others}'
}

# quiet_rates RAILS: as rates, once other programs have left the machine alone, or else of the last of some tries.
quiet_rates() {
  local tries answer
  for ((tries = 1; tries <= TRIES; tries++)); do
    answer=$(rates "$1")
    ! jq -e ".others < $(nproc) / 20" <<<"$answer" >/dev/null || break
  done
  echo "$answer"
}

# one_round NUMBER: a line of JSON for each load and choice of rails, both always between the two alone.
one_round() {
  local loops rails order=(r0 "r0,r1" r1)
  (($1 % 2 == 0)) || order=(r1 "r0,r1" r0)
  for loops in "${LOOPS[@]}"; do
    begin_loops "$loops"
    for rails in "${order[@]}"; do
      quiet_rates "$rails" | jq -c --argjson round "$1" --argjson loops "$loops" --arg rails "$rails" '. + {$round, $loops, $rails}'
    done
    end_loops
  done
}

# figures_of ROUNDS: what they came to: for each load and direction the rates, and both rails' against those of the rail that is
# better alone, by its median, round by round.
figures_of() {
  # shellcheck disable=SC2016
  jq -cs '
    def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
    def summed: {median: median, min: min, max: max};
    sort_by(.round) as $all | ([$all[].loops] | unique) as $loads
    | reduce ("record", "play") as $way ({ratios: {}, figures: {}};
        reduce $loads[] as $load (.;
          (if $load == 0 then $way + "_quiet" else "\($way)_beside_\($load)" end) as $name
          | (reduce ("r0", "r1", "r0,r1") as $rails ({}; .[$rails] = [$all[] | select(.loops == $load and .rails == $rails)[$way]])) as $of
          | (if ($of.r0 | median) >= ($of.r1 | median) then $of.r0 else $of.r1 end) as $better
          | .ratios[$name + "_two_to_one"] = ([$of["r0,r1"], $better] | transpose | map(.[0] / .[1]) | summed)
          | .figures.other_processors = ([$all[].others] | summed)
          | .figures[$name + "_one_mb_per_s"] = ($better | summed)
          | .figures[$name + "_two_mb_per_s"] = ($of["r0,r1"] | summed)))' <<<"$1"
}

promises_of() {
  local loops way
  for loops in "${LOOPS[@]}"; do
    for way in record play; do
      if ((loops == 0)); then echo "${way}_quiet_two_to_one >= 1.05"; else echo "${way}_beside_${loops}_two_to_one >= 0.95"; fi
    done
  done
}

main() {
  local all='' round answer promises result
  need jq
  services_begin
  trap 'end_loops; services_end' EXIT
  start_storage
  start_worker
  tapectl --timeout 120s lun create two --store memory --capacity "$((BLOCKS + 192))MiB" >/dev/null
  tapectl channel create two/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e9 >/dev/null
  tapectl record two/c0 --source synth --fft 1024 --blocks "$BLOCKS" >/dev/null
  tapectl play two/c0/latest --sink "file:$WORK/blocks" >/dev/null
  tapectl recordings delete two/c0/latest >/dev/null
  for ((round = 1; round <= ROUNDS; round++)); do
    answer=$(one_round "$round")
    echo "$answer" >&2
    all+=$answer$'\n'
  done
  result=$(figures_of "$all")
  figure_table "$ROUNDS rounds of $BLOCKS blocks" "$(jq -c '.ratios + .figures' <<<"$result")"
  mapfile -t promises < <(promises_of)
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "two_rails", figures, ratios, peers: {}, $machine}' <<<"$result")" \
    "${promises[@]}"
}

main
