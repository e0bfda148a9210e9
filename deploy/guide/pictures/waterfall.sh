#!/usr/bin/env bash
# Makes waterfall-light.png and waterfall-dark.png anew: the console's spectrum and waterfall of a recording, by Chromium. Needs
# chromium and python3-numpy, and a build with the console's page.
#   deploy/guide/pictures/waterfall.sh [X+Y]      the upper left corner of the picture on the page
set -euo pipefail
# shellcheck source=deploy/services.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../services.sh"

HERE=$TAPEDECK_ROOT/deploy/guide/pictures
CORNER=${1:-30+752}

make_samples() {
  /usr/bin/python3 - "$1" <<'END'
import sys
import numpy
rate, count = 1e6, 4_000_000
time = numpy.arange(count) / rate
noise = numpy.random.default_rng(1).standard_normal((count, 2)) @ [0.02, 0.02j]
sweep = 0.5 * numpy.exp(2j * numpy.pi * numpy.cumsum(180e3 * numpy.sin(2 * numpy.pi * 0.4 * time)) / rate)
line = 0.3 * numpy.exp(2j * numpy.pi * -320e3 * time)
bursts = 0.4 * ((time * 4) % 1 < 0.35) * numpy.exp(2j * numpy.pi * (330e3 + 30e3 * ((time * 4).astype(int) % 3)) * time)
(noise + sweep + line + bursts).astype(numpy.complex64).tofile(sys.argv[1])
END
}

# picture FILE WIDTHxHEIGHT URL OPTION...: what Chromium shows there.
picture() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="${2/x/,}" --screenshot="$1" "${@:4}" "$3" 2>/dev/null
}

# shot LIGHT|DARK NUMBER: the number is Chromium's of the colour scheme. A second picture of the first cuts and shrinks it.
shot() {
  picture "$WORK/$1.png" 1000x1500 "http://127.0.0.1:$console/#/recording/$recording" \
    --virtual-time-budget=15000 --blink-settings="preferredColorScheme=$2"
  echo "<body style='margin:0;overflow:hidden'><img src=$1.png style='margin:-${CORNER#*+}px 0 0 -${CORNER%+*}px'>" >"$WORK/$1.html"
  picture "$HERE/waterfall-$1.png" 940x610 "file://$WORK/$1.html" --force-device-scale-factor=0.55
}

services_begin
trap services_end EXIT
console=$(free_port)
STORAGE_OPTIONS=(--console "127.0.0.1:$console")
start_storage
make_samples "$WORK/sweep.cf32"
mkdir "$WORK/member"
tapectl lun create demo --store posix --member "$WORK/member" >/dev/null
tapectl channel create demo/sweep --datatype cf32_le --sample-rate 1e6 >/dev/null
tapectl recordings import demo/sweep "$WORK/sweep.cf32" --format raw >/dev/null
recording=$(tapectl_json recordings list | jq -r '.recordings[0].name')
shot light 1
shot dark 0
