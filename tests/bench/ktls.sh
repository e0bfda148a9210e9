#!/usr/bin/env bash
# What --rail-tls costs: two TCP rails and a memory LUN in clear and encrypted by the kernel, and iperf3 on the same two
# addresses, in turn. Prints rates, recording and playing together, CPU seconds of both ends per GB, and their ratios.
#   tests/bench/ktls.sh [--rounds N] [--seconds N] [--lun-bytes SIZE] [--vm]
# --vm runs it in the machine of tests/lab, for hosts without TLS in the kernel: there the processor is emulated, AES
# instructions too, so that the ratios say nothing of real ones.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ROUNDS=5 DURATION=4 LUN=1GiB VM=no CHECK=no
RAILS=(127.0.0.1 127.0.0.2)

while [[ $# -gt 0 ]]; do
  case $1 in
    --rounds) ROUNDS=$2 && shift 2 ;;
    --seconds) check_seconds "$2" && DURATION=$2 && shift 2 ;;
    --lun-bytes) LUN=$2 && shift 2 ;;
    --vm) VM=yes && shift ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
  esac
done

# iperf3_measured: {rate, cpu} of the sum over both addresses.
iperf3_measured() {
  iperf3_on "${RAILS[@]}"
  jq -cs '([.[].end.sum_received.bytes] | add) as $bytes
    | {rate: ([.[].end.sum_received.bits_per_second] | add / 8e6),
       cpu: ([.[].end | (.cpu_utilization_percent | .host_total + .remote_total) * .sum_sent.seconds / 100] | add * 1e9 / $bytes)}' \
    "$WORK"/iperf3-*.json
}

# one_round: in clear, encrypted, encrypted, in clear, so that a machine which gets faster or slower favours neither.
one_round() {
  local mode parts=()
  for mode in off on on off; do parts+=("$(transfer_measured --rail-tls "$mode" --block-bytes 1MiB --slots 32 | jq -c --arg mode "$mode" '. + {$mode}')"); done
  parts+=("$(iperf3_measured | jq -c '. + {mode: "iperf3"}')")
  printf '%s\n' "${parts[@]}" | jq -cs '
    def mean(mode; what): [.[] | select(.mode == mode)[what]] | add / length;
    {clear_mb_per_s: mean("off"; "rate"), ktls_mb_per_s: mean("on"; "rate"), iperf3_mb_per_s: mean("iperf3"; "rate"),
     clear_cpu_s_per_gb: mean("off"; "cpu"), ktls_cpu_s_per_gb: mean("on"; "cpu"), iperf3_cpu_s_per_gb: mean("iperf3"; "cpu")}
    | .ktls_to_clear = .ktls_mb_per_s / .clear_mb_per_s | .ktls_to_iperf3 = .ktls_mb_per_s / .iperf3_mb_per_s
    | .ktls_cpu_to_clear = .ktls_cpu_s_per_gb / .clear_cpu_s_per_gb'
}

main() {
  local all
  need jq
  need iperf3
  modprobe tls 2>/dev/null || true
  grep -qw tls /proc/sys/net/ipv4/tcp_available_ulp || {
    echo "bench: this kernel has no TLS; --vm runs the bench in the emulated machine" >&2
    exit 1
  }
  services_begin
  trap services_end EXIT
  all=$(rounds "$ROUNDS" one_round)
  figure_table "$ROUNDS rounds of $DURATION s" "$all"
  conclude "$(jq -c --argjson machine "$(machine)" '{bench: "ktls", figures: with_entries(select(.key | contains("_to_") | not)),
    ratios: with_entries(select(.key | contains("_to_"))), $machine}' <<<"$all")"
}

# in_machine: all of it in the machine of tests/lab, which cannot write into this tree.
in_machine() {
  local answer
  answer=$("$TAPEDECK_ROOT/tests/lab/vm.sh" --timeout 3000 --memory 3072 --cpus 2 --no-rdma -- "$0" --rounds "$ROUNDS" \
    --seconds "$DURATION" --lun-bytes "$LUN" | tee >(cat >&2))
  DIRECTORY=$TAPEDECK_ROOT conclude "$(tail -n 1 <<<"$answer")"
}

if [[ $VM == yes ]]; then in_machine; else main; fi
