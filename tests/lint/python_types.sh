#!/usr/bin/env bash
# python_types.sh ROOT: mypy, as strict as it can be, over the Python package and its examples.
set -euo pipefail
cd "$1/services/python"
for package in mypy numpy:python3-numpy; do
  if ! /usr/bin/python3 -c "import ${package%:*}" 2>/dev/null; then
    echo "skipped: ${package#*:} is not installed"
    exit 77
  fi
done
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
MYPYPATH=. /usr/bin/python3 -m mypy --strict --cache-dir "$cache" tapedeck examples/*.py
