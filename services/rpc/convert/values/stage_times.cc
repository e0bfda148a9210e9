#include "services/rpc/convert/values/stage_times.h"

#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

void Write(const model::StageTimes& times, WireStageTimes& to) {
  for (const model::StageTime& time : times) WriteFields(time, *to.Add());
}

model::StageTimes Read(const WireStageTimes& times) {
  model::StageTimes out(static_cast<size_t>(times.size()));
  for (int i = 0; i < times.size(); ++i) {
    // It has no enum, so nothing of it can be refused here.
    ReadFields(times.Get(i), out[static_cast<size_t>(i)]).IgnoreError();
  }
  return out;
}

}  // namespace tapedeck::services::convert
