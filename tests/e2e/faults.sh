# shellcheck shell=bash
# Sourced after lib.sh: what can befall the rail r1, for the kind of rails in use. Rails over verbs are the ports of the
# virtual machine of tests/lab.

# A network of the test's own, where cutting a rail disturbs nobody. Runs the test again inside it.
in_private_network() {
  local flags
  if [[ ${TAPEDECK_PRIVATE_NETWORK:-} == yes ]]; then
    ip link set lo up
    return 0
  fi
  need unshare
  need ip
  for flags in -n -rn; do
    if unshare "$flags" true 2>/dev/null; then
      TAPEDECK_PRIVATE_NETWORK=yes exec unshare "$flags" "$0" "$@"
    fi
  done
  skip "no network namespace can be made here: it needs root or user namespaces"
}

# Sees to it that the rails are the test's own, so that it may cut them.
own_the_rails() {
  case $RAIL_KIND in
    tcp) in_private_network "$@" ;;
    verbs) source "$TAPEDECK_ROOT/tests/lab/guest.sh" ;;
    *) skip "no faults are known for rails of the kind $RAIL_KIND" ;;
  esac
}

# pace_rails MBIT: all that the rails carry goes no faster, so that a job of few blocks lasts until something has happened to it. Fails
# where this kernel cannot.
pace_rails() {
  [[ $RAIL_KIND == tcp ]] && tc qdisc replace dev lo root tbf rate "$1mbit" burst 1mb latency 2s 2>/dev/null
}

# The rail takes no packet from now on, as if its cable were out; and again as before.
rail_out() {
  if [[ $RAIL_KIND == tcp ]]; then ip route add blackhole 127.0.0.2/32 table local; else port_down 1; fi
}

rail_in() {
  if [[ $RAIL_KIND == tcp ]]; then ip route del blackhole 127.0.0.2/32 table local; else port_up 1; fi
}

pull_cable() {
  rail_out
  sleep 3
  rail_in
}

# The rail's connections break; the rail itself works.
cut_connections() {
  local killed
  if [[ $RAIL_KIND == verbs ]]; then
    rail_out
    rail_in
    return 0
  fi
  killed=$(ss -HK -t state established '( src 127.0.0.2 or dst 127.0.0.2 )' 2>/dev/null | wc -l)
  ((killed > 0)) || fail "no connection of rail r1 could be cut (CONFIG_INET_DIAG_DESTROY)"
}
