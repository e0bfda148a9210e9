#!/usr/bin/env bash
# What the emulator and the sink udp send as VITA 49.2, as another program reads it: tshark's dissector. Every packet is one, none is
# malformed, and stream, class, numbers, sizes and times to the picosecond are what was to be sent.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
FIELDS=(udp.length vrt.type vrt.len vrt.seq vrt.sid vrt.oui vrt.icc vrt.pcc vrt.tsi vrt.tsf vrt.ts_int vrt.ts_frac_picosecond vrt.tsmflag)

# begin_capture: of what comes to PORT.
begin_capture() {
  rm -f "$WORK/port"
  python3 "$HERE/udp_to_pcap.py" "$WORK/port" "$WORK/capture.pcap" &
  CAPTURE_PID=$!
  wait_for 10 test -e "$WORK/port" || fail "nobody captures"
  PORT=$(<"$WORK/port")
}

# is_dissected WHAT SETTING...: as vita49_dissected.py has them.
is_dissected() {
  local as_vrt=(-n -r "$WORK/capture.pcap" -d "udp.port==$PORT,vrt") malformed
  wait "$CAPTURE_PID"
  malformed=$(tshark "${as_vrt[@]}" -Y '_ws.malformed or _ws.expert.severity >= error or not vrt' 2>>"$WORK/tshark.log")
  [[ -z $malformed ]] || fail "$1: malformed: $malformed"
  tshark "${as_vrt[@]}" -T fields "${FIELDS[@]/#/-e}" 2>>"$WORK/tshark.log" >"$WORK/packets.tsv"
  python3 "$HERE/vita49_dissected.py" "$WORK/packets.tsv" "${@:2}" || fail "$1"
}

begin_test
need python3
need tshark

# Two bytes to a sample and an odd number of them: the last packet is filled up.
begin_capture
SENT=$("$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --packets vita49 --stream 4660 --sample-bytes 2 --sample-rate 3e6 \
  --packet-bytes 1440 --count 500001 --rate 6MB --retunes 7 --drop 20000 --seed 2)
is_dissected "the emulator" stream=4660 rate=3e6 sample_bytes=2 packet_samples=720 "sent=$SENT"

WORKER_OPTIONS=(--send-allow "127.0.0.1:*")
start_storage
start_worker
tapectl lun create l0 --store memory --capacity 64MiB >/dev/null
tapectl channel create l0/c0 --datatype ci16_be --block-bytes 64KiB --sample-rate 14e4 >/dev/null
RECORDING=$(tapectl_json record l0/c0 --source synth --transform convert:from=cf32_le,to=ci16_be --blocks 10 | jq -r .recording)
tapectl annotate "$RECORDING" --from-sample 0 --label signal --comment "frequency=1000000000 bandwidth=100000 gain=-1.5 sample_rate=140000" >/dev/null
tapectl annotate "$RECORDING" --from-sample 10001 --label signal --comment "frequency=1000000000.5 bandwidth=100000 gain=3 sample_rate=140000" >/dev/null
begin_capture
tapectl play "$RECORDING" --sink "udp:address=127.0.0.1:$PORT,packets=vita49,packet_bytes=1024,stream=9" --rate 10 >/dev/null
is_dissected "the sink udp" stream=9 rate=14e4 sample_bytes=4 packet_samples=256 cut=10001 \
  'sent={"samples": 163840, "lost": [], "tuned": [{"sample_start": 0}, {"sample_start": 10001}]}' \
  "recording=$(tapectl_json recordings show "$RECORDING")"
