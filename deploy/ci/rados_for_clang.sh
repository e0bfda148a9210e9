#!/usr/bin/env bash
# deploy/ci/rados_for_clang.sh FOLDER: a copy of librados' headers that clang 14 takes for C++20, to be named with -isystem before the
# system's: one comparison of theirs has two meanings there, of which g++ takes the right one. Nothing without librados.
set -euo pipefail
[[ -e /usr/include/rados/buffer.h ]] || exit 0
mkdir -p "$1"
cp -r /usr/include/rados "$1"
sed -i 's/= it == end() ?/= it == const_iterator(end()) ?/' "$1/rados/buffer.h"
