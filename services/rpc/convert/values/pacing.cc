#include "services/rpc/convert/values/pacing.h"

#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {

v1::Pacing ToProto(const model::Pacing& pacing) {
  v1::Pacing out;
  if (pacing.rate_factor.has_value()) out.set_rate_factor(*pacing.rate_factor);
  if (pacing.end_sample.has_value()) out.set_end_sample(*pacing.end_sample);
  if (pacing.loop.has_value()) {
    out.mutable_loop()->set_first(pacing.loop->first);
    out.mutable_loop()->set_end(pacing.loop->end);
  }
  out.set_loop_count(pacing.loop_count);
  if (pacing.at_ns != 0) *out.mutable_at() = ToTimestamp(pacing.at_ns);
  return out;
}

model::Pacing FromProto(const v1::Pacing& pacing) {
  model::Pacing out{.loop_count = pacing.loop_count(), .at_ns = FromTimestamp(pacing.at())};
  if (pacing.has_rate_factor()) out.rate_factor = pacing.rate_factor();
  if (pacing.has_end_sample()) out.end_sample = pacing.end_sample();
  if (pacing.has_loop()) {
    out.loop = model::SampleRange{.first = pacing.loop().first(), .end = pacing.loop().end()};
  }
  return out;
}

}  // namespace tapedeck::services::convert
