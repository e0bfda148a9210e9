#include "services/base/trace/sampler.h"

#include <cmath>

namespace tapedeck::services::telemetry::trace {

bool Sampler::Samples(const TraceContext& above, const TraceId& trace) const {
  if (parent_based && above.valid()) return above.sampled;
  // OpenTelemetry's TraceIdRatioBased, as most of its libraries have it: of the last 8 bytes the
  // upper 63 bits.
  uint64_t number = 0;
  for (size_t i = 8; i < trace.size(); ++i) number = number << 8 | trace[i];
  return ratio >= 1 || static_cast<double>(number >> 1) < std::ldexp(ratio, 63);
}

}  // namespace tapedeck::services::telemetry::trace
