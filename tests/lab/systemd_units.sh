#!/usr/bin/env bash
# The packages on a Debian whose first process is systemd: they install, the units start and record, a daemon that is stopped by
# SIGSTOP is ended by its watchdog and comes back, and the recording goes on; a stop seals; wrong settings are not tried again; a
# purge leaves the data.
#   systemd_units.sh            on the host, with what deploy/packages.sh makes, in the long form only
#   systemd_units.sh --guest    in the machine
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
# shellcheck source=deploy/services.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/services.sh"
# shellcheck source=deploy/base.sh
source "$TAPEDECK_ROOT/deploy/base.sh"
PACKAGES=$TAPEDECK_ROOT/build-packages/packages
DAEMONS=(tapedeck-storage tapedeck-worker)
DATA=/var/lib/tapedeck/storage
WATCHDOG_SECONDS=10

skip() {
  echo "skipped: $*"
  exit 77
}

fail() {
  echo "FAILED: $*" >&2
  journalctl --quiet --no-pager --lines 40 >&2 || true
  exit 1
}

unit() { systemctl show --value --property "$2" "$1"; }

is_active() { systemctl --quiet is-active "$1"; }

# start_units: a unit of Type=notify is started when its program has said READY=1, and only then does this return.
start_units() {
  local daemon
  systemctl enable --quiet --now "${DAEMONS[@]}" || fail "they do not start"
  for daemon in "${DAEMONS[@]}"; do
    [[ "$(unit "$daemon" Type) $(unit "$daemon" ActiveState)" == "notify active" ]] || fail "$daemon: $(systemctl status "$daemon")"
    echo "$daemon: $(unit "$daemon" Type), $(unit "$daemon" ActiveState), user $(ps -o user:32= -p "$(unit "$daemon" MainPID)")"
  done
}

install_packages() {
  local daemon
  apt-get -q install -y --no-install-recommends "$PACKAGES"/*.deb >/run/apt.log 2>&1 || fail "$(tail -n 20 /run/apt.log)"
  for daemon in "${DAEMONS[@]}"; do
    ! is_active "$daemon" || fail "the installation starts $daemon"
    mkdir -p "/run/systemd/system/$daemon.service.d"
    printf '[Service]\nWatchdogSec=%s\n' "$WATCHDOG_SECONDS" >"/run/systemd/system/$daemon.service.d/watchdog.conf"
  done
  systemctl daemon-reload
}

record_and_play() {
  local answer
  install -d -o tapedeck-storage -g tapedeck-storage "$DATA/l0"
  tapectl lun create l0 --store posix --member "$DATA/l0" --capacity 512MiB >/dev/null
  tapectl channel create l0/c0 --block-bytes 64KiB --datatype cf32_le --sample-rate 1e5 >/dev/null
  tapectl record l0/c0 --source synth --fft 1024 --blocks 50 >/dev/null
  answer=$(tapectl_json play l0/c0/latest --sink verify | tail -n 1)
  jq -e '.blocks == 50 and .lost_blocks == 0 and .crc_errors == 0' <<<"$answer" >/dev/null || fail "playing: $answer"
  echo "recorded and played 50 blocks"
}

# under_way FILTER: of the job that records.
under_way() { tapectl_json jobs list | jq -r "[.jobs[] | select(.state == \"RUNNING\" or .state == \"RESUMING\")][0] | $1"; }

# recorded: how many of its blocks were acknowledged.
recorded() { under_way '.blocks // 0'; }

is_past() { (($(recorded) > $1)); }

record_without_end() {
  tapectl record l0/c0 --source synth --duration 1h --resume-for 5m >/run/job.log 2>&1 &
  wait_for 30 is_past 10 || fail "nothing is recorded: $(</run/job.log)"
}

restarts_past() { is_active "$1" && (($(unit "$1" NRestarts) > $2)); }

# survives_a_stop DAEMON: it falls silent, is ended, and takes work again.
survives_a_stop() {
  local daemon=$1 restarts began=$SECONDS
  restarts=$(unit "$daemon" NRestarts)
  systemctl kill --signal STOP --kill-who main "$daemon"
  wait_for 60 restarts_past "$daemon" "$restarts" || fail "$daemon does not come back: $(systemctl status "$daemon" 2>&1)"
  journalctl --quiet --unit "$daemon" --grep 'Watchdog timeout' >/dev/null || fail "no watchdog ended $daemon"
  echo "$daemon: stopped by SIGSTOP, ended by the watchdog, back after $((SECONDS - began)) s, restart $(unit "$daemon" NRestarts)"
}

goes_on_after_the_watchdog() {
  local blocks
  record_without_end
  blocks=$(recorded)
  survives_a_stop tapedeck-storage
  wait_for 60 is_past $((blocks + 20)) || fail "the recording does not go on: $(tapectl_json jobs list)"
  echo "the recording went on: $blocks blocks before, $(recorded) after"
  tapectl jobs cancel "$(under_way .name)"
}

# ends_well DAEMON
ends_well() {
  local began=$SECONDS
  systemctl stop "$1"
  [[ $(unit "$1" Result) == success && $(unit "$1" ExecMainStatus) == 0 ]] ||
    fail "$1 ended with $(unit "$1" Result), status $(unit "$1" ExecMainStatus)"
  echo "$1: systemctl stop took $((SECONDS - began)) s, status 0"
}

# A recording under way is closed, as its files say while nothing runs that could have mended it.
a_stop_seals() {
  local recording blocks manifest state
  record_without_end
  recording=$(under_way .recording) blocks=$(recorded)
  manifest=$DATA/l0/c0/${recording##*/}/manifest.json
  [[ $(jq -r .state "$manifest") == RECORDING ]] || fail "it does not record: $(<"$manifest")"
  ends_well tapedeck-storage
  state=$(jq -r .state "$manifest")
  [[ $state == SEALED || $state == SALVAGED ]] || fail "the stop left the recording $state"
  ends_well tapedeck-worker
  systemctl start "${DAEMONS[@]}"
  [[ $(tapectl_json recordings show "$recording" | jq "(.state == \"$state\") and .blocks >= $blocks") == true ]] ||
    fail "$blocks blocks were acknowledged: $(tapectl_json recordings show "$recording")"
  tapectl recordings verify "$recording" || fail "it is damaged"
  echo "the stop closed the recording as $state; $blocks blocks were acknowledged before it"
}

is_failed() { systemctl --quiet is-failed "$1"; }

wrong_settings_are_not_tried_again() {
  echo 'adress: 1' >>/etc/tapedeck/worker.yaml
  ! systemctl restart tapedeck-worker 2>/run/restart.log || fail "wrong settings are taken"
  is_failed tapedeck-worker || fail "the worker is $(unit tapedeck-worker ActiveState)"
  [[ $(unit tapedeck-worker ExecMainStatus) == 2 && $(unit tapedeck-worker NRestarts) == 0 ]] ||
    fail "status $(unit tapedeck-worker ExecMainStatus), $(unit tapedeck-worker NRestarts) restarts"
  journalctl --quiet --unit tapedeck-worker --grep 'worker.yaml:[0-9]*: there is no "adress"' >/dev/null || fail "it is not said where"
}

# a_purge_leaves_the_data BEFORE: a list of all files before the installation.
a_purge_leaves_the_data() {
  local left
  apt-get -q purge -y tapedeck-storage tapedeck-worker tapedeck-cli >/run/apt.log 2>&1 || fail "$(tail -n 20 /run/apt.log)"
  rm -r /run/systemd/system/tapedeck-*.service.d
  ! is_active tapedeck-storage || fail "the storage node runs on"
  files_of / >/run/after
  left=$(comm -13 "$1" /run/after)
  printf 'left by the purge:\n%s\n' "$left"
  ! grep -vE '^./var/lib/tapedeck(/storage(/.*)?)?$' <<<"$left" || fail "more than the data is left"
  [[ -z $(comm -23 "$1" /run/after) ]] || fail "the purge took: $(comm -23 "$1" /run/after)"
  [[ -e $DATA/l0/.tapedeck/lun.json ]] || fail "the data is gone"
  ! getent passwd tapedeck-worker >/dev/null || fail "the worker's user is left, and owns nothing"
}

guest() {
  TAPEDECK_BIN=/usr/bin
  export TAPEDECK_STORAGE=127.0.0.1:7400 TAPEDECK_WORKER=127.0.0.1:7500 # no names are known there
  [[ $(</proc/1/comm) == systemd ]] || fail "the first process is $(</proc/1/comm)"
  systemctl --version | head -n 1
  files_of / >/run/before
  install_packages
  start_units
  record_and_play
  goes_on_after_the_watchdog
  a_stop_seals
  survives_a_stop tapedeck-worker
  wrong_settings_are_not_tried_again
  a_purge_leaves_the_data /run/before
}

if [[ ${1:-} == --guest ]]; then
  guest
  exit 0
fi
[[ -n ${TAPEDECK_LONG:-} ]] || skip "minutes in an emulated machine; TAPEDECK_LONG=1 or deploy/test.sh --all runs it"
why=$(why_no_base)
[[ -z $why ]] || skip "$why"
"$TAPEDECK_ROOT/deploy/packages.sh"
base=$(tapedeck_base_for "$PACKAGES" systemd jq procps)
cd "$TAPEDECK_ROOT"
exec tests/lab/vm.sh --memory 3072 --timeout 900 --no-rdma --systemd "$base" -- tests/lab/systemd_units.sh --guest
