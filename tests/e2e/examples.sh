#!/usr/bin/env bash
# The examples of the Python package: what comes out of each is what went in. spectrogram.py is skipped where there is no matplotlib.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"
need protoc
for package in numpy:python3-numpy grpc:python3-grpcio google.protobuf:python3-protobuf; do
  /usr/bin/python3 -c "import ${package%:*}" 2>/dev/null || skip "${package#*:} is not installed"
done
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
EXAMPLES=$TAPEDECK_ROOT/services/python/examples
export PYTHONPATH=$TAPEDECK_ROOT/services/python PYTHONDONTWRITEBYTECODE=1

example() {
  local said
  said=$(/usr/bin/python3 "$EXAMPLES/$1" "${@:2}" 2>&1) || fail "the example $1: $said"
  [[ -n $said ]] || fail "the example $1 says nothing"
  EXAMPLE=$said
}

has_matplotlib() { [[ -n $MATPLOTLIB ]]; }
MATPLOTLIB=$(/usr/bin/python3 -c 'import importlib.util; print("yes" if importlib.util.find_spec("matplotlib") else "")')

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
  has_matplotlib || { echo "without spectrogram.py: python3-matplotlib is not installed"; return; }
  tapectl annotate ex/sent/latest --from-sample 0 --label signal --comment frequency=1090000000 >/dev/null
  example spectrogram.py "$TAPEDECK_STORAGE" ex/sent/latest "$WORK/spectrogram.png"
  is_png "$WORK/spectrogram.png"
  # The middles of the first and of the last of 195 transforms of 1024 samples.
  [[ $EXAMPLE == *": 195 spectra, 0.000512 to 0.199168 s, strongest at 1090125000 Hz with -6.02 dBFS" ]] || fail "another tone: $EXAMPLE"
}

# says SENTENCE EXAMPLE ARGUMENT...: it fails, and its last line is that sentence, a pattern. They are run by are_refused.
says() { (IFS=$'\t' && echo "$*") >>"$WORK/refused.table"; }

are_refused() {
  local said
  said=$(/usr/bin/python3 "$HERE/examples_refuse.py" "$EXAMPLES" <"$WORK/refused.table" 2>&1) || fail "$said"
  rm "$WORK/refused.table"
}

# made CHANNEL RATE PYTHON: a channel with a recording of the samples of that expression, or with none.
made() {
  tapectl channel create "$1" --block-bytes 64KiB --sample-rate "$2" >/dev/null
  [[ -n $3 ]] || return 0
  /usr/bin/python3 -c "import numpy, sys; sys.stdout.buffer.write(($3).astype('<c8').tobytes())" >"$WORK/made.raw"
  tapectl recordings import "$1" "$WORK/made.raw" --format raw >/dev/null
}

answers_odd_input() {
  made ex/none 1e6 ''
  made ex/short 1e6 'numpy.ones(100)'
  made ex/unrated 0 'numpy.ones(5000)'
  made ex/nan 1e6 'numpy.ones(5000) * numpy.where(numpy.arange(5000) == 1500, numpy.nan, 1)'
  says '*a time of 1000 samples*' send_packets.py 127.0.0.1:4000 0
  says '*a rate above 0*' send_packets.py 127.0.0.1:4000 1 0
  says 'HOST:PORT*' send_packets.py 127.0.0.1
  says '*needs a sample rate and 1024 complex samples*' batches.py "$TAPEDECK_STORAGE" ex/none 1024
  says '*needs a sample rate and 1024 complex samples*' batches.py "$TAPEDECK_STORAGE" ex/short 1024
  says '*needs a sample rate*' batches.py "$TAPEDECK_STORAGE" ex/unrated 1024
  says '*LENGTH and BATCH are 1 or more' batches.py "$TAPEDECK_STORAGE" ex/nan 1024 0
  says '*no numbers' batches.py "$TAPEDECK_STORAGE" ex/nan 1024
  says '*needs 256 complex samples' waterfall.py "$TAPEDECK_STORAGE" ex/short/latest "$WORK/odd.png"
  says '*no numbers' waterfall.py "$TAPEDECK_STORAGE" ex/nan/latest "$WORK/odd.png"
  ! has_matplotlib || odd_spectrograms
  are_refused
  [[ ! -e $WORK/odd.png ]] || fail "a picture of nothing"
  ! has_matplotlib || spectrogram_of_an_unknown_frequency
}

# spectrogram.py, which needs matplotlib.
odd_spectrograms() {
  says '*needs 1024 complex samples and a sample rate' spectrogram.py "$TAPEDECK_STORAGE" ex/short/latest "$WORK/odd.png"
  says '*needs 1024 complex samples and a sample rate' spectrogram.py "$TAPEDECK_STORAGE" ex/unrated/latest "$WORK/odd.png"
  says '*no numbers' spectrogram.py "$TAPEDECK_STORAGE" ex/nan/latest "$WORK/odd.png"
}

spectrogram_of_an_unknown_frequency() {
  made ex/marked 1e6 'numpy.ones(5000)'
  tapectl annotate ex/marked/latest --from-sample 0 --label signal --comment "frequency=- unknown" >/dev/null
  example spectrogram.py "$TAPEDECK_STORAGE" ex/marked/latest "$WORK/spectrogram.png"
  [[ $EXAMPLE == *" strongest at 0 Hz with 0.00 dBFS" ]] || fail "a frequency that the mark does not tell: $EXAMPLE"
}

# An address of IPv6 in brackets, as all of Tapedeck takes it.
sends_over_ipv6() {
  grep -qs . /proc/net/if_inet6 || { echo "without IPv6: there is none here"; return; }
  example send_packets.py "[::1]:$(free_port)" 0.01
  [[ $EXAMPLE == "10000 samples sent" ]] || fail "over IPv6: $EXAMPLE"
}

begin_test
start_storage
start_worker
reads_and_follows
sends_and_measures
answers_odd_input
sends_over_ipv6
echo "eight examples ran"
