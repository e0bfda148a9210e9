#!/usr/bin/env bash
# A scenario of this folder over RDMA: runs in the virtual machine of tests/lab, whose two ports are the rails. With less
# of everything than on TCP, as everything is some twenty times slower there.
#   tests/lab/vm.sh --memory 4096 -- tests/e2e/over_verbs.sh SCENARIO [ARGUMENT...]
export TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1" TAPEDECK_E2E_PERCENT=${TAPEDECK_E2E_PERCENT:-4}
exec "$(dirname "${BASH_SOURCE[0]}")/$1" "${@:2}"
