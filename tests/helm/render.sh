#!/usr/bin/env bash
# Every set of values in helm/tapedeck/ci passes helm's own check, becomes the same on two releases of Kubernetes, and keeps the rules
# of policy.py. Three sets become what their files in golden/ say, the others what differences.table says that they have otherwise.
#   render.sh [--update]      --update writes the files and the table anew, for `git diff` to show
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The dashboard is long; rules.sh looks at it.
without_dashboard() { sed '/^  tapedeck.json: |/,/^---/ {/^    /d}'; }

# What another release of Kubernetes makes must not differ.
renders_alike() {
  local name=$1 version
  for version in "${KUBERNETES[@]}"; do
    render "$name" --kube-version "$version" >"$WORK/$name.$version.yaml" || fail "$name is not rendered for $version"
    cmp "$WORK/$name.${KUBERNETES[0]}.yaml" "$WORK/$name.$version.yaml" || fail "$name differs on $version"
  done
  mv "$WORK/$name.${KUBERNETES[0]}.yaml" "$WORK/all/$name.yaml"
}

is_golden() {
  [[ -f $HERE/golden/$1.yaml ]] || return 0
  without_dashboard <"$WORK/all/$1.yaml" >"$WORK/$1.golden"
  [[ -z ${UPDATE:-} ]] || cp "$WORK/$1.golden" "$HERE/golden/$1.yaml"
  diff -u "$HERE/golden/$1.yaml" "$WORK/$1.golden" ||
    fail "$1 is rendered differently; tests/helm/render.sh --update writes what it is now"
}

begin_test
need /usr/bin/python3
/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
with_chart_tools
UPDATE=$([[ ${1:-} != --update ]] || echo yes)
mkdir "$WORK/all"
for shape in $(shapes); do
  helm lint --strict "$CHART" -f "$CHART/ci/$shape-values.yaml" >"$WORK/lint.txt" || fail "helm lint of $shape: $(cat "$WORK/lint.txt")"
  renders_alike "$shape"
  is_golden "$shape"
done
/usr/bin/python3 "$HERE/differences.py" "$WORK/all" ${UPDATE:+--update} || fail "tests/helm/render.sh --update writes what is so now"
/usr/bin/python3 "$HERE/differences_test.py" "$WORK/all"
/usr/bin/python3 "$HERE/policy.py" "$WORK/all"/*.yaml
/usr/bin/python3 "$HERE/policy_test.py" "$WORK/all"
echo "$(shapes | wc -l) sets of values"
