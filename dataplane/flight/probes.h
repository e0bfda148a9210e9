// The USDT probe of each kind, provider tapedeck, for bpftrace and perf: a nop while nobody looks.
#pragma once

#include "dataplane/flight/ring.h"

namespace tapedeck::dataplane::flight {

// Arguments of a probe: trail, sequence, place, argument. Any thread.
void Fire(const Entry& entry);

}  // namespace tapedeck::dataplane::flight
