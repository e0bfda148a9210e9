#!/usr/bin/env bash
# A real Ceph cluster on loopback, of Debian's packages: a monitor and three OSDs, each on a sparse file with BlueStore, without
# a manager, systemd or block devices. All of it lies in DIR.
#   rados.sh start DIR            made if it is not there; returns when every placement group takes writes
#   rados.sh stop DIR
#   rados.sh kill-osd DIR N       kill -9
#   rados.sh hang-osd DIR N       SIGSTOP: it keeps its connections, and answers nothing
#   rados.sh cont-osd DIR N
#   rados.sh start-osd DIR N
#   rados.sh cut-osd DIR N        its network: what goes to or from its address, by iptables, which takes root
#   rados.sh mend-osd DIR N
#   rados.sh kill-mon DIR         kill -9
#   rados.sh start-mon DIR
#   rados.sh full DIR             takes no more writes; empty DIR takes them again
#   rados.sh empty DIR
#   rados.sh status DIR
# DIR/ceph.conf is what clients need, and "tape" the pool: three copies, of which two must be there to take a write; "bulk" is
# erasure-coded, two parts and one more, all of which must be there, and its objects can be written over. A silent OSD
# counts as down after 4 s, where Ceph's own 20 s would make tests long. A daemon is signalled only if its command line names that
# ceph.conf. RADOS_PORT is the monitor's, 23300 unless told; the OSDs take those from 100 more on. With RADOS_AUTH=cephx everybody
# proves who they are, by keys in DIR.
set -euo pipefail

OSDS=3 POOL=tape CODED_POOL=bulk GROUPS_OF_POOL=8 OSD_SIZE=6G READY_S=${RADOS_READY_S:-120}
PORT=${RADOS_PORT:-23300} AUTH=${RADOS_AUTH:-none}

die() {
  echo "rados.sh: $*" >&2
  exit 1
}

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

ceph_() { timeout 30 ceph --conf "$CONF" --connect-timeout 10 "$@"; }

# pid_of DAEMON: of one that runs on this cluster's ceph.conf; fails if there is none.
pid_of() {
  local pid
  pid=$(cat "$DIR/run/$1.pid" 2>/dev/null) && [[ -n $pid && -r /proc/$pid/cmdline ]] || return 1
  tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -- "$CONF" || return 1
  echo "$pid"
}

# start_daemon NAME COMMAND...
start_daemon() {
  local name=$1 i
  shift
  ! pid_of "$name" >/dev/null || return 0
  rm -f "$DIR/run/$name.pid" "$DIR/run/$name.asok"
  "$@" --conf "$CONF" </dev/null >>"$DIR/log/$name.out" 2>&1 || die "$name does not start: $(tail -n 3 "$DIR/log/$name.out")"
  for ((i = 0; i < 50; ++i)); do
    ! pid_of "$name" >/dev/null || return 0
    sleep 0.1
  done
  die "$name ended at once: $(tail -n 3 "$DIR/log/$name.log")"
}

start_osd() { start_daemon "osd.$1" ceph-osd -i "$1"; }

# Each has one of its own, so that its network can be cut.
osd_address() { echo "127.0.1.$((10 + $1))"; }

# firewall -I|-D N: from now on, or no more, packets between OSD N and this cluster's other ports vanish.
firewall() {
  local side
  for side in -s -d; do
    iptables -w 10 "$1" INPUT "$side" "$(osd_address "$2")" -p tcp -m multiport --ports "$PORT:$((PORT + 199))" -j DROP
  done
}

# signal DAEMON SIGNAL
signal() {
  local pid
  pid=$(pid_of "$1") || die "$1 does not run"
  kill "-$2" "$pid"
}

# end_daemon NAME: it has 10 s to end by itself.
end_daemon() {
  local pid i
  if pid=$(pid_of "$1"); then
    kill -CONT "$pid" && kill -TERM "$pid"
    for ((i = 0; i < 100; ++i)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    ! pid_of "$1" >/dev/null || kill -KILL "$pid"
  fi
  rm -f "$DIR/run/$1.pid"
}

write_conf() {
  cat >"$CONF" <<END
[global]
fsid = $(</proc/sys/kernel/random/uuid)
mon_host = [v2:127.0.0.1:$PORT/0,v1:127.0.0.1:$((PORT + 1))/0]
mon_initial_members = a
auth_cluster_required = $AUTH
auth_service_required = $AUTH
auth_client_required = $AUTH
keyring = $DIR/keyring
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_before_connect = true
ms_bind_port_min = $((PORT + 100))
ms_bind_port_max = $((PORT + 199))
run_dir = $DIR/run
pid_file = $DIR/run/\$name.pid
admin_socket = $DIR/run/\$name.asok
log_file = $DIR/log/\$name.log
crash_dir = $DIR/crash
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 3
osd_pool_default_min_size = 2
osd_pool_default_pg_autoscale_mode = off
osd_heartbeat_interval = 1
osd_heartbeat_grace = 4
mon_osd_adjust_heartbeat_grace = false
mon_osd_min_down_reporters = 1
mon_osd_reporter_subtree_level = osd
mon_osd_down_out_interval = 600
# An OSD that a busy machine has starved comes back, however often that happens.
osd_max_markdown_count = 1000
[client]
admin_socket =
log_file =
pid_file =
[mon]
mon_data = $DIR/mon
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mon_osd_down_out_subtree_limit = osd
paxos_propose_interval = 0.2
[osd]
osd_data = $DIR/osd\$id
keyring = $DIR/osd\$id/keyring
osd_objectstore = bluestore
bluestore_block_size = $(numfmt --from=iec "$OSD_SIZE")
bluestore_block_create = true
bluestore_cache_autotune = false
bluestore_cache_size = 67108864
osd_op_num_shards = 2
osd_op_num_threads_per_shard = 1
osd_recovery_sleep = 0
osd_mclock_skip_benchmark = true
END
  local n
  for ((n = 0; n < OSDS; ++n)); do
    printf '[osd.%s]\npublic_addr = %s\ncluster_addr = %s\n' "$n" "$(osd_address "$n")" "$(osd_address "$n")" >>"$CONF"
  done
}

# make_monitor: knows of itself alone.
make_monitor() {
  ceph-authtool --create-keyring "$DIR/keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
  ceph-authtool "$DIR/keyring" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' >/dev/null
  monmaptool --create --clobber --fsid "$(sed -n 's/^fsid = //p' "$CONF")" \
    --addv a "[v2:127.0.0.1:$PORT/0,v1:127.0.0.1:$((PORT + 1))/0]" "$DIR/monmap" >/dev/null
  ceph-mon --conf "$CONF" --mkfs -i a --monmap "$DIR/monmap" --keyring "$DIR/keyring" >>"$DIR/log/mkfs.out" 2>&1 ||
    die "no monitor can be made: $(tail -n 3 "$DIR/log/mkfs.out")"
}

# make_osd N
make_osd() {
  local uuid
  uuid=$(</proc/sys/kernel/random/uuid)
  mkdir -p "$DIR/osd$1"
  ceph_ osd new "$uuid" "$1" >/dev/null
  ceph_ auth get-or-create "osd.$1" mon 'allow profile osd' osd 'allow *' -o "$DIR/osd$1/keyring" >/dev/null
  ceph-osd --conf "$CONF" -i "$1" --mkfs --osd-uuid "$uuid" >>"$DIR/log/mkfs.out" 2>&1 ||
    die "OSD $1 cannot be made: $(tail -n 3 "$DIR/log/mkfs.out")"
}

make_erasure_coded() {
  ceph_ osd erasure-code-profile set two-and-one k=2 m=1 crush-failure-domain=osd >/dev/null 2>&1
  ceph_ osd pool create "$CODED_POOL" "$GROUPS_OF_POOL" "$GROUPS_OF_POOL" erasure two-and-one >/dev/null 2>&1
  ceph_ osd pool set "$CODED_POOL" allow_ec_overwrites true >/dev/null 2>&1
  ceph_ osd pool application enable "$CODED_POOL" rados >/dev/null 2>&1
}

make_cluster() {
  local n longest=$DIR/run/client.admin.0000000.asok
  ((${#longest} < 107)) || die "$DIR is too long a name for the daemons' sockets"
  [[ ! -e $CONF ]] || die "$DIR holds a cluster that is only half made: stop it and remove it"
  mkdir -p "$DIR"/{run,log,crash,mon}
  write_conf
  make_monitor
  start_daemon mon.a ceph-mon -i a
  for ((n = 0; n < OSDS; ++n)); do make_osd "$n" & done
  wait
  for ((n = 0; n < OSDS; ++n)); do start_osd "$n"; done
  ceph_ osd pool create "$POOL" "$GROUPS_OF_POOL" "$GROUPS_OF_POOL" replicated >/dev/null 2>&1
  ceph_ osd pool application enable "$POOL" rados >/dev/null 2>&1
  make_erasure_coded
  touch "$DIR/made"
}

# wait_ready POOL: so many names lie in all of its groups.
wait_ready() {
  local end=$((SECONDS + READY_S)) n
  for ((n = 0; n < 4 * GROUPS_OF_POOL; n += 4)); do
    until timeout 10 rados --conf "$CONF" -p "$1" -N probe put "probe$n" /dev/null 2>/dev/null; do
      ((SECONDS < end)) || die "not ready after $READY_S s: $(ceph_ health detail | head -n 5)"
      sleep 0.2
    done
  done
}

start() {
  local n
  if [[ -e $DIR/made ]]; then
    start_daemon mon.a ceph-mon -i a
    for ((n = 0; n < OSDS; ++n)); do start_osd "$n"; done
  else
    make_cluster
  fi
  wait_ready "$POOL"
  wait_ready "$CODED_POOL"
}

stop() {
  local n
  for n in "$DIR"/run/cut.*; do
    [[ ! -e $n ]] || mend_osd "${n##*.}"
  done
  for ((n = 0; n < OSDS; ++n)); do end_daemon "osd.$n" & done
  wait
  end_daemon mon.a
}

cut_osd() {
  touch "$DIR/run/cut.$1"
  firewall -I "$1" || die "the network of OSD $1 cannot be cut"
}

mend_osd() { firewall -D "$1" && rm "$DIR/run/cut.$1"; }

# set_full RATIO: by which the OSDs call themselves full.
set_full() {
  ceph_ osd set-nearfull-ratio "$1" >/dev/null 2>&1
  ceph_ osd set-backfillfull-ratio "$1" >/dev/null 2>&1
  ceph_ osd set-full-ratio "$1" >/dev/null 2>&1
}

[[ $# -ge 2 ]] || usage
VERB=$1 DIR=$2 N=${3:-}
[[ $VERB != start ]] || mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd) || die "no directory $2"
CONF=$DIR/ceph.conf
[[ $VERB != *-osd || $N =~ ^[0-9]+$ ]] || usage
case $VERB in
  start) start ;;
  stop) stop ;;
  kill-osd) signal "osd.$N" KILL ;;
  hang-osd) signal "osd.$N" STOP ;;
  cont-osd) signal "osd.$N" CONT ;;
  start-osd) start_osd "$N" ;;
  cut-osd) cut_osd "$N" ;;
  mend-osd) mend_osd "$N" ;;
  kill-mon) signal mon.a KILL ;;
  start-mon) start_daemon mon.a ceph-mon -i a ;;
  full) set_full 0.0001 ;;
  empty) set_full 0.95 ;;
  status) ceph_ -s ;;
  *) usage ;;
esac
