# shellcheck shell=bash disable=SC2034
# Sourced after lib.sh by clock_steps.sh: a group of two channels on two nodes (`address N`), which one worker records, and plays
# at a pace that is looked at by the steady clock.
GROUP_RATE=1000000 GROUP_BLOCK=8192 GROUP_BLOCKS=256 # samples a second, samples
PACE=0.02                                            # of GROUP_RATE: 2.4 blocks a second

make_group_luns() {
  local node
  for node in 0 1; do
    mkdir "$WORK/member-group$node"
    tapectl --storage "$(address $node)" lun create group --store posix --member "$WORK/member-group$node" >/dev/null
    tapectl --storage "$(address $node)" channel create group/c0 --datatype cf32_le --block-bytes $((8 * GROUP_BLOCK)) \
      --sample-rate $GROUP_RATE >/dev/null
  done
}

# record_group NAME OPTION...: of two channels on two nodes.
record_group() {
  tapectl_json record --group "$1" --source synth:noise=0 "${@:2}" \
    --member "$TAPEDECK_WORKER=$(address 0)/group/c0" --member "$TAPEDECK_WORKER=$(address 1)/group/c0"
}

# play_group: PACED is how far each member was when it was seen first.
play_group() {
  record_group even --blocks $GROUP_BLOCKS --start-in "$(slow 4)s" >"$WORK/even.json" || fail "no group: $(<"$WORK/even.json")"
  tapectl_json --storage "$(address 0),$(address 1)" play --group even --sink null --rate "$PACE" >"$WORK/played.json" 2>"$WORK/played.log" &
  PLAYER=$!
  wait_for 15 look_at_pace || fail "the group does not play: $(cat "$WORK/played.log")"
  look_at_pace
  PACED=("$LOOKED_AFTER" "$LOOKED_BEFORE" "${SAMPLES[@]}")
}

uptime_ms() { local up && read -r up _ </proc/uptime && echo $((10#${up/./} * 10)); }

# look_at_pace: how many SAMPLES each member has played, by the steady clock.
look_at_pace() {
  LOOKED_BEFORE=$(uptime_ms)
  mapfile -t SAMPLES < <(tapectl_json jobs list |
    jq '.jobs[] | select(.direction == "PLAYBACK" and .state == "RUNNING" and .timing.samples > 0 and .timing.samples_per_s != null) | .timing.samples')
  LOOKED_AFTER=$(uptime_ms)
  ((${#SAMPLES[@]} == 2))
}

# pace_holds: since it began each member has played what is due, within a tenth and a block; both are as far.
pace_holds() {
  local i least most
  look_at_pace || fail "clock at $AT s: a group does not play on: $(cat "$WORK/played.log")"
  for i in 0 1; do
    least=$(awk -v ms=$((LOOKED_BEFORE - PACED[0])) "BEGIN {print int(ms / 1000 * $GROUP_RATE * $PACE * 0.9) - 2 * $GROUP_BLOCK}")
    most=$(awk -v ms=$((LOOKED_AFTER - PACED[1])) "BEGIN {print int(ms / 1000 * $GROUP_RATE * $PACE * 1.1) + 2 * $GROUP_BLOCK}")
    ((SAMPLES[i] - PACED[2 + i] >= least && SAMPLES[i] - PACED[2 + i] <= most)) ||
      fail "clock at $AT s: a playback has given $((SAMPLES[i] - PACED[2 + i])) samples, not $least to $most"
  done
  wait_for 10 members_are_level || fail "clock at $AT s: the members stay $((SAMPLES[0] - SAMPLES[1])) samples apart"
}

# members_are_level: as far as each other, to two blocks. Each tells for itself how far it is, and may be late in telling it.
members_are_level() {
  look_at_pace || return 1
  local apart=$((SAMPLES[0] - SAMPLES[1]))
  ((${apart#-} <= 2 * GROUP_BLOCK))
}

group_is_cancelled() {
  tapectl_json jobs list | jq -e '[.jobs[] | select(.direction == "PLAYBACK" and .state == "CANCELLED" and .crc_errors == 0)] | length == 2'
}
group_ends() {
  local job
  for job in $(tapectl_json jobs list | jq -r '.jobs[] | select(.direction == "PLAYBACK" and .state == "RUNNING" and .timing != null) | .name'); do
    tapectl jobs cancel "$job" >/dev/null
  done
  wait_for 5 group_is_cancelled || fail "the members of a group do not end together: $(tapectl_json jobs list)"
  wait "$PLAYER" && fail "a group that was cancelled succeeded"
  echo "a group was played while the clock stepped: ${SAMPLES[*]} samples"
}
