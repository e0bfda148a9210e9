#!/usr/bin/env bash
# Captures of VITA 49 packets, sent over UDP as they came, are recorded as an import of the file records them: the same samples at
# the same times, with the same gaps and annotations.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CASES=$TAPEDECK_ROOT/../shared/cases/vita49.py
PACKETS_A_SECOND=2000

# told_of RECORDING: what both ways must have alike.
told_of() {
  tapectl_json recordings show "$1" |
    jq -c '{start_time, blocks, bytes, missing_blocks, sample_rate, datatype, annotations: [.annotations[]? | [.sample_start, .sample_count, .label]] | sort}'
}

# The packets' samples are big-endian, and those of an import little-endian.
RECORD_OPTIONS=(--transform "convert:from=ci16_be,to=ci16_le")

# same CASE [SAMPLE_RATE]
same() {
  local name=$1 rate=${2:-1e6} imported live
  tapectl channel create "l/$name" --datatype ci16_le --block-bytes 64KiB --sample-rate "$rate" >/dev/null
  tapectl recordings import "l/$name" "$WORK/in/$name.pcap" --format vita49-pcap >"$WORK/said" 2>&1 || fail "$name: $(<"$WORK/said")"
  imported=$(tapectl_json recordings show "l/$name/latest" | jq -r .name)
  CHANNEL=l/$name begin_ingest "udp=127.0.0.1:0,packets=vita49,timeout=3"
  /usr/bin/python3 "$HERE/pcap_to_udp.py" "$WORK/in/$name.pcap" "$PORT" $PACKETS_A_SECOND
  end_ingest
  live=$(jq -r .recording <<<"$ANSWER")
  [[ $(told_of "$imported") == "$(told_of "$live")" ]] ||
    fail "$name: imported $(told_of "$imported"), live $(told_of "$live"): $ANSWER"
  tapectl recordings export "$imported" --format raw --to "$WORK/imported" --gaps >/dev/null
  tapectl recordings export "$live" --format raw --to "$WORK/live" --gaps >/dev/null
  cmp "$WORK/imported" "$WORK/live" || fail "$name: other samples"
  rm "$WORK/imported" "$WORK/live"
  echo "$name: the same"
}

begin_test
[[ -e $CASES ]] || skip "there are no captures to send: $CASES"
need python3
/usr/bin/python3 -c "import numpy" 2>/dev/null || skip "python3-numpy is not installed"
mkdir "$WORK/in"
/usr/bin/python3 "$CASES" "$WORK/in"
start_storage
start_worker
tapectl lun create l --store memory --capacity 256MiB >/dev/null
same p01_ok
same p04_14in16
same p05b_10ns_122 122.88e6
same p13_lost
same p15_ratedouble
same p21_fwd
same p22_trunc
same p23_rate 333333.333333
