#!/usr/bin/env bash
# The examples of the Python package: what comes out of each is what went in. spectrogram.py is skipped where there is no matplotlib.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"
need protoc
for package in numpy:python3-numpy grpc:python3-grpcio google.protobuf:python3-protobuf; do
  /usr/bin/python3 -c "import ${package%:*}" 2>/dev/null || skip "${package#*:} is not installed"
done
EXAMPLES=$TAPEDECK_ROOT/services/python/examples
export PYTHONPATH=$TAPEDECK_ROOT/services/python PYTHONDONTWRITEBYTECODE=1

example() {
  local said
  said=$(/usr/bin/python3 "$EXAMPLES/$1" "${@:2}" 2>&1) || fail "the example $1: $said"
  [[ -n $said ]] || fail "the example $1 says nothing"
  EXAMPLE=$said
}

is_png() { [[ $(head -c 8 "$1" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || fail "no PNG: $EXAMPLE"; }

reads_and_follows() {
  local pid
  lun_with_channel posix ex/c cf32_le 64KiB
  tapectl record ex/c --source synth:seed=7 --blocks 64 >/dev/null
  CAPACITY=128MiB lun_with_channel memory mem/unused cf32_le 64KiB
  example list_and_read.py "$TAPEDECK_STORAGE" ex/c/latest
  example waterfall.py "$TAPEDECK_STORAGE" ex/c/latest "$WORK/waterfall.png"
  is_png "$WORK/waterfall.png"
  example export_sigmf.py "$TAPEDECK_STORAGE" ex/c/latest "$WORK/exported"
  # A worker reads what the package wrote.
  tapectl record ex/c --source "file:$WORK/exported.sigmf-meta" >/dev/null || fail "the worker refuses the SigMF recording"
  example record_and_trigger.py "$TAPEDECK_STORAGE" "$TAPEDECK_WORKER" mem/triggered
  [[ $EXAMPLE == *"['seen']"* ]] || fail "no mark of the trigger: $EXAMPLE"
  tapectl channel create ex/live --block-bytes 1MiB --sample-rate 1e6 >/dev/null
  tapectl record ex/live --source synth --blocks 250 >/dev/null &
  pid=$!
  wait_for 10 live_has_blocks || fail "the recording does not start"
  example follow_live.py "$TAPEDECK_STORAGE" ex/live/latest
  [[ $EXAMPLE == *" 0 missing"*SEALED ]] || fail "not all was followed: $EXAMPLE"
  wait "$pid" || fail "the followed recording failed"
}

live_has_blocks() { tapectl_json recordings show ex/live/latest | jq -e '.blocks > 0'; }

# sends SECONDS TONE_HZ: at a million samples per second; each is recorded once, and none besides.
sends() {
  local shown
  begin_ingest udp=127.0.0.1:0
  example send_packets.py "127.0.0.1:$PORT" "$1" 1e6 "$2"
  end_ingest
  is_whole "$ANSWER" "what was sent"
  shown=$(tapectl_json recordings show "$CHANNEL/latest")
  json_is "$shown" ".bytes == 8 * ${EXAMPLE%% *} and .annotations == []" "$EXAMPLE, and recorded"
}

# The tone is an eighth of the sample rate, and half of full scale: -6.02 dBFS, a power of 0.25.
sends_and_measures() {
  local CHANNEL=ex/sent
  tapectl channel create ex/sent --block-bytes 64KiB --sample-rate 1e6 >/dev/null
  sends 0.3 125e3
  sends 0.2 125e3
  example batches.py "$TAPEDECK_STORAGE" ex/sent 2048 64
  # 146 rows of the first recording, 97 of the second.
  [[ $EXAMPLE == *"243 rows of 2048 samples by "*": mean power 0.250000, strongest at 125000 Hz" ]] || fail "batches of another tone: $EXAMPLE"
  [[ $EXAMPLE == "no GPU is used: "* || $EXAMPLE != *"by numpy"* ]] || fail "nothing says why no GPU was used: $EXAMPLE"
  /usr/bin/python3 -c "import matplotlib" 2>/dev/null || { echo "without spectrogram.py: python3-matplotlib is not installed"; return; }
  tapectl annotate ex/sent/latest --from-sample 0 --label signal --comment frequency=1090000000 >/dev/null
  example spectrogram.py "$TAPEDECK_STORAGE" ex/sent/latest "$WORK/spectrogram.png"
  is_png "$WORK/spectrogram.png"
  # The middles of the first and of the last of 195 transforms of 1024 samples.
  [[ $EXAMPLE == *": 195 spectra, 0.000512 to 0.199168 s, strongest at 1090125000 Hz with -6.02 dBFS" ]] || fail "another tone: $EXAMPLE"
}

begin_test
start_storage
start_worker
reads_and_follows
sends_and_measures
echo "eight examples ran"
