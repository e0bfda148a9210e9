#!/usr/bin/env bash
# Every object of every set of values is one that Kubernetes, cert-manager and the Prometheus operator take: required fields, types,
# words (kubernetes-models), and no field that they do not know (tsc). Both find what is planted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# as_lines FILE: each object of a YAML file as a line of JSON.
as_lines() {
  /usr/bin/python3 -c 'import json, sys, yaml; [print(json.dumps(o)) for o in yaml.load_all(sys.stdin, yaml.CSafeLoader) if o]' <"$1"
}

# models DIRECTORY: its *.jsonl, in the chart's own modules.
models() { cp "$HERE/models.mjs" "$1/" && node "$1/models.mjs" "$1" "$1"/*.jsonl; }

known_in_every_field() { (cd "$1" && tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 objects.ts); }

# finds WHAT FILTER WORD: an object that is wrong so is refused with that word, by either of both.
finds() {
  local found
  mkdir "$WORK/$1"
  ln -s "$HERE/node_modules" "$WORK/$1/node_modules"
  jq -c "select(.kind == \"StatefulSet\") | $2" "$WORK/all/minimal.jsonl" >"$WORK/$1/wrong.jsonl"
  ! found=$(models "$WORK/$1" 2>&1 && known_in_every_field "$WORK/$1" 2>&1) || fail "$1 is not found"
  grep -q "$3" <<<"$found" || fail "$1 is found without naming $3: $found"
}

begin_test
/usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
with_chart_tools
mkdir "$WORK/all"
ln -s "$HERE/node_modules" "$WORK/all/node_modules"
for shape in $(shapes); do
  render "$shape" --kube-version "${KUBERNETES[0]}" >"$WORK/$shape.yaml"
  as_lines "$WORK/$shape.yaml" >"$WORK/all/$shape.jsonl"
done
models "$WORK/all" || fail "an object is not valid"
known_in_every_field "$WORK/all" || fail "an object has a field that nobody knows"
finds misspelt '.spec.template.spec.runetimeClassName = "x"' runetimeClassName
finds wrong_type '.spec.replicas = "two"' replicas
finds left_out 'del(.spec.selector)' selector
