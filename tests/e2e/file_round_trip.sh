#!/usr/bin/env bash
# What is recorded from a file plays back byte for byte, its last, partial block included.
#   file_round_trip.sh generated|direct|adsb|sigmf
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# round_trip CHANNEL SOURCE BYTES_FILE
round_trip() {
  local answer recording
  answer=$(tapectl_json record "$1" --source "file:$2")
  is_whole "$answer" "recording $2"
  json_is "$answer" ".bytes == $(stat -c %s "$3")" "recorded bytes"
  recording=$(jq -r .recording <<<"$answer")
  tapectl recordings verify "$recording" >/dev/null
  answer=$(tapectl_json play "$recording" --sink "file:$WORK/out.bin")
  is_whole "$answer" "playing $recording"
  cmp "$3" "$WORK/out.bin" || fail "$1: what came back differs"
  rm "$WORK/out.bin"
}

generated() {
  local op
  # 5 whole blocks and a piece of an odd number of pages.
  head -c $((5 * MIB + 123458)) /dev/urandom >"$WORK/samples.bin"
  for op in READ WRITE SEND; do
    lun_with_channel posix "l-$op/c0" cu8 1MiB --transfer-op "$op"
    round_trip "l-$op/c0" "$WORK/samples.bin" "$WORK/samples.bin"
  done
  # A file of whole blocks has no partial one.
  head -c $((2 * MIB)) /dev/urandom >"$WORK/whole.bin"
  CAPACITY=64MiB lun_with_channel memory lw/c0 cf32_le 64KiB
  round_trip lw/c0 "$WORK/whole.bin" "$WORK/whole.bin"
  through_another_datatype
}

# Recorded blocks hold half as many samples as those that are read and played.
through_another_datatype() {
  local answer recording
  tapectl channel create lw/c1 --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  answer=$(tapectl_json record lw/c1 --source "file:$WORK/whole.bin" --transform convert:from=cu8,to=ci16_le)
  json_is "$answer" ".bytes == $((4 * MIB))" "converted bytes"
  recording=$(jq -r .recording <<<"$answer")
  tapectl_json play "$recording" --sink "file:$WORK/out.bin" --transform convert:from=ci16_le,to=cu8 >/dev/null
  cmp "$WORK/whole.bin" "$WORK/out.bin" || fail "what was converted there and back differs"
  rm "$WORK/out.bin"
  tapectl channel create lw/c2 --datatype rf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  answer=$(tapectl_json record lw/c2 --source synth --blocks 20 --transform power:points=1024,average=4)
  json_is "$answer" ".blocks == 20 and .bytes == 20 * 65536" "averaged blocks"
  answer=$(tapectl_json play "$(jq -r .recording <<<"$answer")" --sink verify)
  json_is "$answer" '[.notes[]? | select(.code == "CONTENT_NOT_COMPARED")] == []' "the averages were compared"
  as_a_wav_is_refused
  labels_are_the_users lw/c2/latest
  compares_nothing "$recording"
}

# A WAV has no big-endian samples: the refusal has a command that makes a raw file of others.
as_a_wav_is_refused() {
  local command
  tapectl channel create lw/c3 --datatype ci16_be --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  tapectl recordings import lw/c3 "$WORK/whole.bin" --format raw >/dev/null
  ! tapectl recordings export lw/c3/latest --format wav --to "$WORK/out.wav" 2>"$WORK/refused" || fail "a WAV of ci16_be"
  read -ra command < <(sed 's/.*: tapectl //; s/ \[.*//' "$WORK/refused")
  tapectl "${command[@]/PATH/$WORK/out.bin}" >/dev/null || fail "no command that works: $(<"$WORK/refused")"
  cmp <(dd if="$WORK/whole.bin" conv=swab status=none) "$WORK/out.bin" || fail "${command[*]} gives other samples"
  rm "$WORK/out.bin"
}

# labels_are_the_users RECORDING: of synth. One is set or removed at a time, and none has to do with what is compared.
labels_are_the_users() {
  local before changed
  before=$(tapectl_json recordings show "$1" | jq -c .origin)
  json_is "$before" '.source.name == "synth" and .transforms[0].parameters.points == "1024" and .worker != "" and .version != ""' "the origin"
  changed=$(tapectl_json recordings update "$1" --label site=north --label source=file)
  json_is "$changed" '.labels == {site: "north", source: "file"}' "two that are added"
  changed=$(tapectl_json recordings update "$1" --label site=south --label transforms=blur --label source-)
  json_is "$changed" '.labels == {site: "south", transforms: "blur"}' "one replaced, one added, one removed"
  json_is "$changed" ".origin == $before" "the origin after all that"
  json_is "$(tapectl_json play "$1" --sink verify)" '.state == "SUCCEEDED"' "what is compared"
  json_is "$(tapectl_json recordings update "$1" --label none)" '.labels == {}' "none"
}

# compares_nothing RECORDING: of a file, which nobody can make again.
compares_nothing() {
  local answer status=0
  answer=$(tapectl_json play "$1" --sink verify) || status=$?
  ((status == 6)) || fail "a verification that compared nothing has status $status: $answer"
  json_is "$answer" '.state == "NOT_COMPARED" and .lost_blocks == 0 and (.notes | any(.code == "CONTENT_NOT_COMPARED" and .cause == "SOURCE" and .source == "file"))' "its end"
  answer=$(tapectl play "$1" --sink verify 2>&1) || true
  grep -q "  NOT_COMPARED" <<<"$answer" || fail "the text does not say that nothing was compared: $answer"
}

direct() {
  local op
  mkdir -p "$WORK/member-d"
  dd if=/dev/zero of="$WORK/member-d/probe" oflag=direct bs=4096 count=1 2>/dev/null || skip "no O_DIRECT in $WORK"
  rm "$WORK/member-d/probe"
  head -c $((37 * MIB + 123458)) /dev/urandom >"$WORK/samples.bin"
  mkdir -p "$WORK/member-d2"
  tapectl lun create d --store direct --member "$WORK/member-d" --member "$WORK/member-d2" >/dev/null
  for op in READ WRITE SEND; do
    tapectl channel create "d/$op" --datatype cu8 --block-bytes 1MiB --sample-rate 1e6 --transfer-op "$op" >/dev/null
    round_trip "d/$op" "$WORK/samples.bin" "$WORK/samples.bin"
  done
  grep -q 'member opened.*engine=' "$WORK/storage.log" || fail "the log does not say how the members are driven"
}

adsb() {
  local capture=$DATA/adsb_modes_cu8_2Msps.bin
  [[ -r $capture ]] || skip "no $capture"
  lun_with_channel posix adsb/c0 cu8 64KiB
  round_trip adsb/c0 "$capture" "$capture"
}

sigmf() {
  local meta=$DATA/sigmf_logo.sigmf-meta
  [[ -r $meta ]] || skip "no $meta"
  lun_with_channel posix sigmf/c0 ri16_le 64KiB
  # Its two channels in turn make no recording, and do as one stream.
  ! tapectl record sigmf/c0 --source "file:$meta" 2>"$WORK/refused" || fail "two channels became one recording"
  grep -q num_channels "$WORK/refused" || fail "the refusal: $(cat "$WORK/refused")"
  jq 'del(.global["core:num_channels"])' "$meta" >"$WORK/logo.sigmf-meta"
  ln -s "$(realpath "${meta%-meta}-data")" "$WORK/logo.sigmf-data"
  round_trip sigmf/c0 "$WORK/logo.sigmf-meta" "${meta%-meta}-data"
}

begin_test
start_storage
start_worker
"$1"
