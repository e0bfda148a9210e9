#!/usr/bin/env bash
# Every test that runs inside one process, under AddressSanitizer, LeakSanitizer and UBSan.
exec "$(dirname "${BASH_SOURCE[0]}")/sanitized.sh" asan address,undefined
