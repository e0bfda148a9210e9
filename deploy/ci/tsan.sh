#!/usr/bin/env bash
# Every test that runs inside one process, under ThreadSanitizer.
exec "$(dirname "${BASH_SOURCE[0]}")/sanitized.sh" tsan thread
