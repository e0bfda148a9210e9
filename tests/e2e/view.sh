#!/usr/bin/env bash
# tapectl view shows the tones that synth makes, of a recording on disk and of one that grows; what is damaged is left out
# and said; what cannot be shown is refused.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# view ARGUMENT...: 64 columns of 16 rows.
view() { tapectl_json view "$@" --columns 64 --rows 16; }

# synth's tones are 0.125 above the middle and 0.25 below it: the loudest two of 64 columns.
# shellcheck disable=SC2016
shows_tones() {
  json_is "$1" '(.rows == 16 and .columns == 64 and .complex and .damaged_pieces == 0 and .bytes_read <= 67108864)
    and all(.powers[]; . as $row | ([range(64)] | sort_by(-$row[.]) | .[:2] | sort) == [16, 40])' "$2"
}

# refused FILTER ARGUMENT...
refused() {
  local answer status=0
  answer=$(tapectl_json view "${@:2}" 2>/dev/null) || status=$?
  ((status != 0)) || fail "view ${*:2} is not refused"
  json_is "$answer" ".error | $1" "view ${*:2}"
}

# spectra_of RATE BINS TOLD WHAT: the picture shows recorded spectra.
spectra_of() {
  json_is "$3" ".bins == $2 and .band_rate == $1 and .covered_samples == .sample_count" "$4"
}

has_blocks() { tapectl_json recordings show "$1" | jq -e ".blocks >= $2" >/dev/null; }

begin_test
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 1MiB
tapectl record l0/c0 --source synth:noise=0.001 --blocks 64 >/dev/null
shows_tones "$(view l0/c0/latest)" "a recording"
shows_tones "$(view l0/c0/latest --from-sample 4000000 --to-sample 4002000)" "a part of it"

text=$(tapectl view l0/c0/latest --columns 64 --rows 16)
[[ $text != *$'\033'* && $(grep -c ' s [ .:=+*#%@-]' <<<"$text") == 16 && $text == *'of full scale'* ]] ||
  fail "this is no plain waterfall: $text"
# A terminal gets colours, unless it wants none.
if command -v script >/dev/null; then
  colored=$(script -qec "$TAPEDECK_BIN/tapectl view l0/c0/latest --columns 64 --rows 16" /dev/null)
  [[ $colored == *$'\033[38;5;'*▀* ]] || fail "there are no colours in a terminal: $colored"
  plain=$(NO_COLOR=1 script -qec "$TAPEDECK_BIN/tapectl view l0/c0/latest --columns 64 --rows 16" /dev/null)
  [[ $plain != *$'\033['* ]] || fail "there are colours although NO_COLOR is set: $plain"
fi

# Spectra are drawn as they are; of a mean of 64 the band is that of the source.
tapectl channel create l0/bins --block-bytes 1MiB --sample-rate 1e6 >/dev/null
tapectl channel create l0/mean --datatype rf32_le --block-bytes 64KiB --sample-rate 15625 >/dev/null
tapectl record l0/bins --source synth:noise=0.001 --fft 64 --blocks 16 --also l0/mean \
  --also-transform power:points=64,average=64 >/dev/null
seen=$(view l0/bins/latest)
shows_tones "$seen" "spectra"
spectra_of 1000000 64 "$seen" "spectra"
seen=$(view l0/mean/latest)
shows_tones "$seen" "means of spectra"
spectra_of 1000000 64 "$seen" "means of spectra"
[[ $(tapectl view l0/mean/latest --columns 64 --rows 16) == *'-500 kHz'*'500 kHz'*'spectra of 64 bins'* ]] ||
  fail "the means have another band"
# Powers of samples in time have no frequencies.
tapectl record l0/mean --source synth --transform power:points=1,average=64 --blocks 1 >/dev/null
refused '.reason == "ARGUMENT_INVALID" and (.message | contains("it holds the power of samples in time"))' l0/mean/latest

refused '.reason == "ARGUMENT_INVALID" and .metadata.field == "columns"' l0/c0/latest --columns 17
refused '.reason == "ARGUMENT_INVALID" and .metadata.field == "rows"' l0/c0/latest --rows 2049
refused '.reason == "ARGUMENT_INVALID" and .metadata.field == "first_sample"' l0/c0/latest --from-sample 1000000000
refused '.reason == "RECORDING_NOT_FOUND"' l0/c0/nothing

# A bit of the second block: its piece is left out, the rest is shown.
data=$(echo "$WORK"/member-l0/c0/*/data)
printf '\377' | dd of="$data" bs=1 seek=$((MIB + 5)) conv=notrunc status=none
json_is "$(view l0/c0/latest --from-sample 131072 --to-sample 139264)" \
  '.damaged_pieces == 1 and all(.powers[]; .[0] == null)' "a damaged piece"
json_is "$(view l0/c0/latest --from-sample 139264 --to-sample 147456)" \
  '.damaged_pieces == 0 and all(.powers[]; .[0] != null)' "the piece after it"

start_job record l0/c0 --source synth:noise=0.001 --duration 1h
wait_for 20 has_blocks l0/c0/latest 8 || fail "nothing is recorded"
shows_tones "$(view l0/c0/latest --to-sample 1000000)" "a recording that grows"
tapectl jobs cancel "$(job .name)" >/dev/null
end_job || true
echo "tones, damage and refusals are seen as they are"
