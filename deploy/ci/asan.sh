#!/usr/bin/env bash
# Every test that runs inside one process, under AddressSanitizer, LeakSanitizer and UBSan.
#
# The short form leaves out four checks of UBSan that take nearly half of the compiler's time: null and object-size, whose
# finds AddressSanitizer reports too; vptr, for casts between classes; and alignment, which deploy/ci/fuzz.sh has where
# bytes from outside are read. With TAPEDECK_LONG all are there.
UNDEFINED=shift,signed-integer-overflow,integer-divide-by-zero,bounds,bool,enum,return,unreachable,vla-bound
UNDEFINED+=,nonnull-attribute,returns-nonnull-attribute,pointer-overflow,builtin
[[ -z ${TAPEDECK_LONG:-} ]] || UNDEFINED=undefined
exec "$(dirname "${BASH_SOURCE[0]}")/sanitized.sh" asan "address,$UNDEFINED"
