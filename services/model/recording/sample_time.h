// The time of a sample: all that shows, exports or seeks a time asks here. A recording carries one
// time, its start: when its first sample was captured. Sample n of it is n / rate later, whatever
// is missing between them, as the worker counts the samples that it loses. Values; any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "services/model/words/field.h"

namespace tapedeck::services::model {

// Nanoseconds since 1970, UTC. None: not known, or beyond kMaxTimeNs on either side.
using SampleTime = std::optional<int64_t>;

namespace sample_time_internal {

inline SampleTime Shifted(SampleTime time_ns, long double by_ns) {
  if (!time_ns.has_value()) return std::nullopt;
  const long double sum = static_cast<long double>(*time_ns) + by_ns;
  if (std::fabs(sum) > static_cast<long double>(kMaxTimeNs)) return std::nullopt;
  return std::llround(sum);
}

// Of a run of samples. Without a rate only an empty one has a length.
inline std::optional<long double> Lasts(uint64_t samples, double rate) {
  if (samples == 0) return 0.0L;
  if (!(rate > 0)) return std::nullopt;
  return static_cast<long double>(samples) * 1e9L / static_cast<long double>(rate);
}

}  // namespace sample_time_internal

// Of the sample that is `samples` behind one of the time `time_ns`.
inline SampleTime TimeAfter(SampleTime time_ns, uint64_t samples, double rate) {
  const auto lasts_ns = sample_time_internal::Lasts(samples, rate);
  if (!lasts_ns.has_value()) return std::nullopt;
  return sample_time_internal::Shifted(time_ns, *lasts_ns);
}

// The same before it.
inline SampleTime TimeBefore(SampleTime time_ns, uint64_t samples, double rate) {
  const auto lasts_ns = sample_time_internal::Lasts(samples, rate);
  if (!lasts_ns.has_value()) return std::nullopt;
  return sample_time_internal::Shifted(time_ns, -*lasts_ns);
}

// The earlier one that is known.
inline SampleTime Earlier(SampleTime one, SampleTime other) {
  if (!one.has_value() || !other.has_value()) return one.has_value() ? one : other;
  return std::min(one, other);
}

}  // namespace tapedeck::services::model
