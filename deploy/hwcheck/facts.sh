# shellcheck shell=bash
# Sourced by deploy/hwcheck.sh: what this machine is, before anything is done to it, and how fast it is.

# fact NAME COMMAND...: its output becomes $WORK/facts/NAME, at most 64 KiB; or why there is none.
fact() {
  local name=$1
  shift
  if ! command -v "$1" >/dev/null; then
    echo "not here: $1" >"$WORK/facts/$name"
  elif ! timeout 20 "$@" 2>&1 | head -c 65536 >"$WORK/facts/$name" || [[ ! -s $WORK/facts/$name ]]; then
    echo "nothing from: $*" >>"$WORK/facts/$name"
  fi
}

network_cards() {
  local device driver
  for device in /sys/class/net/*/device; do
    [[ -e $device ]] || continue
    driver=$(basename "$(readlink -f "$device/driver")")
    echo "$(basename "$(dirname "$device")") $(basename "$(readlink -f "$device")") driver=$driver mtu=$(cat "$device/../mtu")" \
      "speed=$(cat "$device/../speed" 2>/dev/null || echo unknown) numa=$(cat "$device/numa_node" 2>/dev/null || echo unknown)"
  done
}

rdma_counters() { grep -sH . /sys/class/infiniband/*/ports/*/hw_counters/* /sys/class/infiniband/*/fw_ver; }

# Whether each disk keeps writes in memory of its own, and whether it knows FUA: what a durable block rests on.
disk_caches() {
  local queue
  for queue in /sys/block/*/queue; do
    echo "$(basename "$(dirname "$queue")") write_cache=$(cat "$queue/write_cache") fua=$(cat "$queue/fua") model=$(cat "$queue/../device/model" 2>/dev/null)"
  done
}

# PCIe ACS makes traffic between a card and a GPU go round by the root port.
pcie_acs() { lspci -vv 2>/dev/null | grep -E '^[0-9a-f]+:|ACSCtl'; }

limits() { echo "memlock $(ulimit -l) KiB, huge pages $(cat /sys/kernel/mm/transparent_hugepage/enabled), iommu groups $(find /sys/kernel/iommu_groups -mindepth 1 -maxdepth 1 | wc -l)"; }

gather_facts() {
  mkdir -p "$WORK/facts"
  fact kernel uname -a
  fact command_line cat /proc/cmdline
  fact processors lscpu
  fact cards network_cards
  fact links ip -s link
  fact rdma ibv_devinfo -v
  fact rdma_counters rdma_counters
  fact gpu nvidia-smi -q
  fact gpu_topology nvidia-smi topo -m
  fact acs pcie_acs
  fact disks lsblk -O -J
  fact disk_caches disk_caches
  fact nvme nvme list
  fact limits limits
  tapectl_json nodes >"$WORK/facts/nodes"
  tapectl doctor >"$WORK/facts/doctor" || true
}

facts_json() {
  local file
  for file in "$WORK/facts"/*; do jq -Rs --arg name "$(basename "$file")" '{($name): .}' "$file"; done | jq -s add
}

# rails_of storage|worker: as the nodes' list has them.
rails_of() { jq -c --arg role "${1^^}" '.nodes[] | select(.role == $role) | .rails[]' "$WORK/facts/nodes"; }

# MB/s of the payload that the rails of that name can carry between both nodes; 0 where a port has no rate, as loopback.
wire_limit() {
  { rails_of storage; rails_of worker; } | jq -s --argjson names "$1" 'group_by(.name) | map(select([.[0].name] - $names == [])) |
    map([.[].wire_limit_bytes_per_s] | min) | if any(. == 0) then 0 else add / 1e6 | round end'
}

# What another program gets on a rail, in MB/s, with why there is none as the second word.
other_program() {
  local rail=$1 transport address device answer
  transport=$(jq -r .transport <<<"$rail") address=$(jq -r .address <<<"$rail")
  device=$(jq -r .device <<<"$rail")
  if [[ $transport == verbs ]]; then
    command -v ib_write_bw >/dev/null || { echo "0 perftest is not here"; return; }
    ask "On the storage node's machine, for rail $(jq -r .name <<<"$rail"), run: ib_write_bw -D 5 -R" || { echo "0 not asked for"; return; }
    answer=$(timeout 30 ib_write_bw -D 5 -R "$address" 2>&1 | awk '$1 ~ /^[0-9]+$/ {print $4}' | tail -n 1)
    echo "${answer:-0} ib_write_bw from $device, in MiB/s"
    return
  fi
  command -v iperf3 >/dev/null || { echo "0 iperf3 is not here"; return; }
  if [[ -n $LOOPBACK ]]; then
    iperf3 -s -1 -B "$address" -p "$IPERF_PORT" >"$WORK/iperf.log" 2>&1 &
    SERVICE_PIDS+=("$!")
    wait_for 5 iperf_listens "$address" || { echo "0 iperf3 does not start"; return; }
  else
    ask "On the storage node's machine, for rail $(jq -r .name <<<"$rail"), run: iperf3 -s -1 -p $IPERF_PORT" || { echo "0 not asked for"; return; }
  fi
  answer=$(iperf3 -J -c "$address" -p "$IPERF_PORT" -t "$RATE_SECONDS" 2>/dev/null | jq '.end.sum_received.bits_per_second / 8e6 | round') || answer=0
  echo "$answer iperf3, one connection"
}

iperf_listens() { [[ -n $(ss -Htln "src = $1:$IPERF_PORT") ]]; }

# Each rail alone and all together, beside the wire and another program: lines of JSON in $WORK/rates.
measure_rates() {
  local names rail name other
  names=$(rails_of worker | jq -s 'map(.name)')
  while IFS= read -r rail <&5; do
    name=$(jq -r .name <<<"$rail")
    read -r other why < <(other_program "$rail")
    rate_row "$name" "[\"$name\"]" "$other" "$why"
  done 5< <(rails_of storage)
  rate_row "$(jq -r 'join(",")' <<<"$names")" "$names" 0 "measured for each rail"
}

# rate_row RAILS NAMES OTHER WHY
rate_row() {
  local recorded played recording
  read -r recording recorded < <(tapectl_json record "$CHANNEL" --source synth --duration "$RATE_TIME" --rails "$1" |
    jq -r '"\(.recording) \(.mb_per_s | round)"')
  recording=$(recordings_of "${recording##*/}" | jq -rs 'last.name // empty')
  played=$(tapectl_json play "$recording" --sink null --rails "$1" | jq '.mb_per_s | round')
  delete_recordings_of "$(tapectl_json recordings show "$recording" | jq -r 'if .stream == "" then .name | split("/") | last else .stream end')"
  jq -nc --arg rails "$1" --argjson record "${recorded:-0}" --argjson play "${played:-0}" --argjson wire "$(wire_limit "$2")" \
    --argjson other "$3" --arg other_is "$4" '{rails: $rails, record_mb_per_s: $record, play_mb_per_s: $play, wire_mb_per_s: $wire,
      other_mb_per_s: $other, other_is: $other_is}' >>"$WORK/rates"
}
