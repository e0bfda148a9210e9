#!/usr/bin/env bash
# The chart has the alerts and the dashboard of deploy/observability as they are there, and Prometheus takes the alerts that it makes.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PY=/usr/bin/python3

are_as_there() {
  mkdir "$WORK/files"
  "$TAPEDECK_ROOT/helm/update.sh" "$WORK/files"
  for name in rules.yml dashboard.json; do
    cmp "$CHART/files/$name" "$WORK/files/$name" || fail "the chart's $name is not that of deploy/observability: run helm/update.sh"
  done
}

# object KIND NAME: of what is rendered, as JSON.
object() {
  $PY -c 'import json, sys, yaml
print(json.dumps([o for o in yaml.safe_load_all(sys.stdin) if o and o["kind"] == sys.argv[1] and o["metadata"]["name"] == sys.argv[2]][0]))' \
    "$@" <"$WORK/tcp.yaml"
}

are_rendered_unchanged() {
  object PrometheusRule rel-tapedeck | jq -S .spec >"$WORK/rendered.json"
  $PY -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' <"$TAPEDECK_ROOT/deploy/observability/rules.yml" | jq -S . \
    >"$WORK/rules.json"
  diff "$WORK/rules.json" "$WORK/rendered.json" || fail "the rendered rules are not those of deploy/observability"
  object ConfigMap rel-tapedeck-dashboard | jq -r '.data["tapedeck.json"]' | jq -S . >"$WORK/dashboard.json"
  "$TAPEDECK_ROOT/deploy/observability/dashboard.py" | jq -S . | cmp - "$WORK/dashboard.json" || fail "the dashboard is another one"
}

# The alerts speak of the jobs tapedeck-storage and tapedeck-worker.
monitors_have_their_names() {
  for role in storage worker; do
    object ServiceMonitor "rel-tapedeck-$role" | jq -e ".spec.endpoints[0].relabelings == [{targetLabel: \"job\", replacement: \"tapedeck-$role\"}]" \
      >/dev/null || fail "the $role is scraped by another name"
  done
}

begin_test
$PY -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
are_as_there
with_chart_tools
render tcp --kube-version "${KUBERNETES[0]}" >"$WORK/tcp.yaml"
are_rendered_unchanged
monitors_have_their_names
if command -v promtool >/dev/null; then
  promtool check rules "$WORK/rendered.json" || fail "Prometheus does not take the rules"
else
  echo "promtool is not installed (Debian: prometheus), so the rules were not tried"
fi
