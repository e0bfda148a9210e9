#!/usr/bin/env bash
# Certificates for tests. Sourced, or run as authority.sh FUNCTION ARGUMENT...
KEYS=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

# authority DIR [DAYS]: one that signs there, DIR/ca.pem.
authority() {
  mkdir -p "$1"
  openssl req -x509 "${KEYS[@]}" -days "${2:-60}" -subj /CN=authority -keyout "$1/ca.key" -out "$1/ca.pem" 2>/dev/null
}

# certificate DIR NAME NAMES [DAYS [SUBJECT]]: DIR/NAME.pem and DIR/NAME.key of the authority there. NAMES are the alternative
# names, such as URI:spiffe://lab/ann,IP:127.0.0.1, and may be empty. Both files change at once.
certificate() {
  local dir=$1 name=$2 extensions=()
  openssl req -new "${KEYS[@]}" -subj "${5:-/CN=$name}" -keyout "$dir/$name.new.key" -out "$dir/$name.csr" 2>/dev/null
  if [[ -n $3 ]]; then
    echo "subjectAltName=$3" >"$dir/$name.ext"
    extensions=(-extfile "$dir/$name.ext")
  fi
  openssl x509 -req -in "$dir/$name.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -set_serial "$RANDOM$RANDOM" -days "${4:-30}" \
    "${extensions[@]}" -out "$dir/$name.new.pem" 2>/dev/null
  mv "$dir/$name.new.key" "$dir/$name.key"
  mv "$dir/$name.new.pem" "$dir/$name.pem"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  "$@"
fi
