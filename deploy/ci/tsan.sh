#!/usr/bin/env bash
# The data plane, sessions, store and pipelines under ThreadSanitizer. Left out are the programs that link gRPC: Debian's
# is not built with it, and what gRPC's threads hand to each other all looks like races.
export TAPEDECK_TESTS_LEFT_OUT='^(Calls|Server|SessionStream|Tapectl|Unreachable)Test'
exec "$(dirname "${BASH_SOURCE[0]}")/sanitized.sh" tsan thread
