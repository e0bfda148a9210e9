// The time of now in Abseil's type, for what is not simulated. Not absl::Now(), which Debian builds
// to go on by the processor's counter: after a step of the machine's clock it tells times that
// never were, for seconds.
#pragma once

#include "absl/time/time.h"
#include "dataplane/clock.h"

namespace tapedeck::dataplane {

// UTC, as the kernel has it: for labels, certificates, and deadlines of gRPC. It may step.
inline absl::Time WallTime() { return absl::FromUnixNanos(SystemClock().WallNs()); }

// From an arbitrary start, never back: the difference of two is how long something took.
inline absl::Time SteadyTime() { return absl::FromUnixNanos(SystemClock().NowNs()); }

}  // namespace tapedeck::dataplane
