#!/usr/bin/env bash
# Records with buf alone, as one may try an API: record_buf.sh WORKER STORAGE CHANNEL BLOCKS [REQUEST_ID], e.g.
#   record_buf.sh 127.0.0.1:7500 127.0.0.1:7400 luns/l0/channels/c0 100
# BUF is the program; npm has it as @bufbuild/buf-linux-x64, and deploy/ci/proto.sh puts it into proto/. With TLS_CERT, TLS_KEY and
# TLS_CA set, it proves who it is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUF=${BUF:-$root/proto/node_modules/@bufbuild/buf-linux-x64/bin/buf}
worker=$1 storage=$2 channel=$3 blocks=$4 id=${5:-$(cat /proc/sys/kernel/random/uuid)}

scheme=http options=(--http2-prior-knowledge)
if [[ -n ${TLS_CERT:-} ]]; then
  scheme=https options=(--cert "$TLS_CERT" --key "$TLS_KEY" --cacert "$TLS_CA")
fi

# call METHOD JSON
call() { "$BUF" curl --protocol grpc "${options[@]}" --schema "$root/proto" --data "$2" "$scheme://$worker/tapedeck.v1.PipelineService/$1"; }

job=$(call StartRecord "{\"storage\": \"$storage\", \"channel\": \"$channel\", \"source\": {\"name\": \"synth\"}, \"blocks\": $blocks,
  \"request_id\": \"$id\"}" | jq -r .name)
call WatchJob "{\"name\": \"$job\"}" | jq -cs 'last.job | {name, state, recording, blocks, mbPerS}'
