// Which traces are recorded, as OTEL_TRACES_SAMPLER says.
#pragma once

#include "services/base/trace/context.h"

namespace tapedeck::services::telemetry::trace {

// A value. As it is by default: what the caller samples, and what begins here.
struct Sampler {
  bool parent_based = true;  // a span does as the one above; else each is looked at by itself
  double ratio = 1;          // of the traces that are looked at: 0 none, 1 all

  // Whether a span of the trace, under `above`, which may be none, is recorded. By the trace's id:
  // every program with the same ratio says the same.
  bool Samples(const TraceContext& above, const TraceId& trace) const;
};

}  // namespace tapedeck::services::telemetry::trace
