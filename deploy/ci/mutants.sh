#!/usr/bin/env bash
# Fifty faults are planted in the product, one at a time, and the entry of the short check that should find each is run: one that
# nothing finds fails. tests/mutants/run.py has the steps one by one.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../../tests/mutants/run.py" --jobs "$(nproc)"
