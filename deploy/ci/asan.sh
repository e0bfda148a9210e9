#!/usr/bin/env bash
# The tests that run inside one process, under AddressSanitizer, LeakSanitizer and UBSan.
#
# The short form runs the suites that deploy/test.sh runs nowhere else. With TAPEDECK_LONG simulations and injected faults run,
# too. The short form also leaves out four checks of UBSan that take nearly half of the compiler's time: null and object-size,
# whose finds AddressSanitizer reports too; vptr, for casts between classes; and alignment, which deploy/ci/fuzz.sh has where
# bytes from outside are read.
UNDEFINED=shift,signed-integer-overflow,integer-divide-by-zero,bounds,bool,enum,return,unreachable,vla-bound
UNDEFINED+=,nonnull-attribute,returns-nonnull-attribute,pointer-overflow,builtin
PART=unit
[[ -z ${TAPEDECK_LONG:-} ]] || UNDEFINED=undefined PART=''
exec "$(dirname "${BASH_SOURCE[0]}")/sanitized.sh" asan "address,$UNDEFINED" "$PART"
