#!/usr/bin/env bash
# Every metric that the dashboard and the alerts of deploy/observability name is on the nodes' pages; the rules pass their own tests;
# and a Prometheus that scraped both nodes during a recording and a playback answers every query of the dashboard.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"

OBSERVABILITY=$TAPEDECK_ROOT/deploy/observability
# Queries of these are understood, at least. What nodes without an RDMA card, a sensor, a GPU, or certificates have no samples of.
NEEDS_MORE='^tapedeck_(infiniband_.*|rail_temperature_celsius|ladder_rung_info|tls_certificate_.*|policy_.*)$'

queries() { "$OBSERVABILITY/dashboard.py" --queries; }

# names_in: of metrics, in queries or rules that are read.
names_in() { grep -oE '\b(tapedeck|process)_[a-z_]+' | sed -E 's/_(bucket|sum|count)$//' | sort -u; }

# names_there: those on the pages, and of those that need more the ones the list has.
names_there() {
  { ask storage /metrics && ask worker /metrics; } | awk '/^# TYPE/ {print $3}'
  grep -oE '"tapedeck_[a-z_]+"' "$TAPEDECK_ROOT/services/observe/telemetry/metrics.h" | tr -d '"' | grep -E "$NEEDS_MORE"
}

names_are_there() {
  local named missing
  named=$({ queries && grep -vE '^ *(- alert|summary|runbook):' "$OBSERVABILITY/rules.yml" | sed 's/#.*//'; } | names_in)
  missing=$(comm -23 <(echo "$named") <(names_there | sort -u))
  [[ -z $missing ]] || fail "no metric is called: $missing"
  echo "$(wc -l <<<"$named") metrics are named, and there"
}

rules_pass() {
  (cd "$OBSERVABILITY" && promtool check rules rules.yml && promtool test rules rules_test.yml && promtool check config prometheus.yml) ||
    fail "the rules or the configuration are not right"
}

query() { curl -sS --fail-with-body --get --data-urlencode "query=$1" "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/query"; }

has_answer() { query "$1" | jq -e '.status == "success" and (.data.result | length > 0)'; }

prometheus_answers() {
  local each answers=0 understood=0
  PROMETHEUS_PORT=$(free_port)
  sed -e "s/127.0.0.1:9400/127.0.0.1:$STORAGE_ADMIN/; s/127.0.0.1:9500/127.0.0.1:$WORKER_ADMIN/; s/scrape_interval: 5s/scrape_interval: 1s/" \
    "$OBSERVABILITY/prometheus.yml" >"$WORK/prometheus.yml"
  cp "$OBSERVABILITY/rules.yml" "$WORK/"
  start_service "$WORK/prometheus.log" "$PROMETHEUS_PORT" prometheus --config.file="$WORK/prometheus.yml" \
    --storage.tsdb.path="$WORK/tsdb" --web.listen-address="127.0.0.1:$PROMETHEUS_PORT"
  has_answer 'up{job="tapedeck-storage"} == 1' || wait_for 20 has_answer 'up{job="tapedeck-storage"} == 1' || fail "no scrape"
  # With so short a ring no machine fills the LUN meanwhile.
  tapectl record l0/c0 --source synth --duration 3s --slots 2 >/dev/null
  tapectl play l0/c0/latest --sink null >/dev/null
  while IFS= read -r each; do
    if names_in <<<"$each" | grep -qE "$NEEDS_MORE"; then
      query "$each" | jq -e '.status == "success"' >/dev/null || fail "not a query: $each"
      understood=$((understood + 1))
      continue
    fi
    wait_for 20 has_answer "$each" || fail "no answer to $each: $(query "$each")"
    answers=$((answers + 1))
  done < <(queries)
  echo "Prometheus answers $answers queries, and understands $understood of what needs more"
}

begin_test
with_admin_ports
lun_with_channel memory l0/c0 cf32_le 64KiB
jq -e '.panels | length > 20' <("$OBSERVABILITY/dashboard.py") >/dev/null || fail "the dashboard is not made"
names_are_there
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  rules_pass
  prometheus_answers
else
  echo "Prometheus is not installed (Debian: prometheus), so rules and queries were not tried"
fi
