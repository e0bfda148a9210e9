#!/usr/bin/env bash
# Builds go/record.go with the packages that protoc-gen-go makes of proto/, without the network, and runs it with the same options:
#   record_go.sh --worker 127.0.0.1:7500 --storage 127.0.0.1:7400 --channel luns/l0/channels/c0 --blocks 100 --request-id ID
# Debian: golang-go protoc-gen-go golang-google-protobuf-dev golang-google-grpc-dev protobuf-compiler. GO_BUILD is where what was built
# stays for the next run; else it goes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
proto=$here/../../proto
build=${GO_BUILD:-$(mktemp -d)}
[[ -n ${GO_BUILD:-} ]] || trap 'rm -rf "$build"' EXIT

make_it() {
  local files packages=Mgoogle/rpc/status.proto=tapedeck/rpc file
  files=(tapedeck/v1/{pipeline,catalog,counters,session,stages,damage,pacing}.proto)
  for file in "${files[@]}"; do packages+=,M$file=tapedeck/v1; done
  mkdir -p "$build/src"
  protoc -I"$proto" --go_out="$packages:$build/src" "${files[@]}" google/rpc/status.proto
  GO111MODULE=off GOFLAGS='' GOPATH=$build:/usr/share/gocode go build -o "$build/record" "$here/go/record.go"
}

[[ -x $build/record ]] || make_it
"$build/record" "$@"
