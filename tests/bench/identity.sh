#!/usr/bin/env bash
# What certificates cost: the same storage node with TLS 1.3, certificates at both ends and a policy, and in plain text, by turns:
# from a session's Open to its first block, handshake included; calls a second of two callers; a recording's rate.
#   tests/bench/identity.sh [--rounds N] [--seconds N] [--sessions N] [--check]
# --check exits 1 over 80 ms until the first block, below 1,000 calls a second, or below 0.99 of the rate in plain text.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/authority.sh
source "$TAPEDECK_ROOT/tests/e2e/authority.sh"

ROUNDS=5 DURATION=4 SESSIONS=50 CHECK=no

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --sessions) SESSIONS=$2 && shift 2 ;;
    --check) CHECK=yes && shift ;;
    *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
  esac
done

# of ARGUMENT...: the three figures, one line of JSON.
of() {
  local session calls transfer
  session=$(tapedeck_bench session --sessions "$SESSIONS" "$@")
  calls=$(tapedeck_bench calls --seconds "$DURATION" "$@")
  transfer=$(tapedeck_bench transfer --seconds "$DURATION" --lun-bytes 1GiB "$@")
  jq -cn --argjson session "$session" --argjson calls "$calls" --argjson transfer "$transfer" \
    '{open_to_first_block_ms: $session.open_to_first_block_ms.p50, calls_per_s: $calls.calls_per_s, record_mb_per_s: $transfer.record_mb_per_s}'
}

# one_round: both, each first by turns. `round` is the caller's.
one_round() {
  local tls plain tls_first=$((${round:-1} % 2))
  ((tls_first == 0)) || tls=$(of "${TLS[@]}")
  plain=$(of)
  ((tls_first == 1)) || tls=$(of "${TLS[@]}")
  jq -cn --argjson tls "$tls" --argjson plain "$plain" '
    ($tls | with_entries(.key |= "tls_" + .)) + ($plain | with_entries(.key |= "plain_" + .)) +
    {record_to_plain: ($tls.record_mb_per_s / $plain.record_mb_per_s), calls_to_plain: ($tls.calls_per_s / $plain.calls_per_s),
     open_to_plain: ($tls.open_to_first_block_ms / $plain.open_to_first_block_ms)}'
}

main() {
  local all
  need jq
  need openssl
  services_begin
  trap services_end EXIT
  authority "$WORK"
  certificate "$WORK" node URI:spiffe://bench/node,IP:127.0.0.1
  TLS=(--tls-cert "$WORK/node.pem" --tls-key "$WORK/node.key" --tls-ca "$WORK/ca.pem")
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "identity",
    figures: with_entries(select(.key | test("^tls_"))),
    ratios: with_entries(select(.key | test("_to_plain"))),
    peers: with_entries(select(.key | test("^plain_"))), $machine}' <<<"$all")" \
    'tls_open_to_first_block_ms <= 80' 'tls_calls_per_s >= 1000' 'record_to_plain >= 0.99'
}

main
