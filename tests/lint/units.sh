#!/usr/bin/env bash
# tests/lint/units.sh ROOT BUILD: how each file is compiled by itself, into BUILD/units/compile_commands.json, and the headers
# that come from the protos. What is built is compiled in groups, of which that file would say nothing.
set -euo pipefail
[[ -f $2/units/build.ninja ]] || cmake -S "$1" -B "$2/units" -G Ninja -DTAPEDECK_GROUPED=OFF # else ninja does, where it must
ninja -C "$2/units" tapedeck_proto_sources
