#include "services/rpc/convert/values/transfer.h"

#include <algorithm>
#include <cstdint>

#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

// Beyond any recording all the same.
int64_t Clamped(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
}

}  // namespace

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

v1::Playhead ToProto(const model::Playhead& playhead) {
  v1::Playhead out;
  switch (playhead.unit) {
    case model::Playhead::Unit::kBlock:
      if (playhead.start > 0) out.set_block(static_cast<uint64_t>(playhead.start));
      break;
    case model::Playhead::Unit::kSample:
      out.set_sample(static_cast<uint64_t>(std::max<int64_t>(playhead.start, 0)));
      break;
    case model::Playhead::Unit::kTime:
      *out.mutable_time() = ToTimestamp(playhead.start);
      break;
  }
  out.set_follow(playhead.follow);
  out.set_stream(playhead.stream);
  out.set_damaged_blocks(playhead.damaged_blocks);
  if (playhead.behind_ns > 0) *out.mutable_behind() = ToDuration(playhead.behind_ns);
  return out;
}

model::Playhead FromProto(const v1::Playhead& playhead) {
  model::Playhead out{.stream = playhead.stream(),
                      .follow = playhead.follow(),
                      .behind_ns = std::max<int64_t>(FromDuration(playhead.behind()), 0),
                      .damaged_blocks = playhead.damaged_blocks()};
  switch (playhead.start_case()) {
    case v1::Playhead::kBlock:
      out.start = Clamped(playhead.block());
      break;
    case v1::Playhead::kSample:
      out.unit = model::Playhead::Unit::kSample;
      out.start = Clamped(playhead.sample());
      break;
    case v1::Playhead::kTime:
      out.unit = model::Playhead::Unit::kTime;
      out.start = FromTimestamp(playhead.time());
      break;
    case v1::Playhead::START_NOT_SET:
      break;
  }
  return out;
}

void WriteField(const model::Playhead& playhead, const WireField& to) {
  if (playhead != model::Playhead()) to.Set().CopyFrom(ToProto(playhead));
}

absl::Status ReadField(const ConstWireField& from, model::Playhead& playhead) {
  playhead = FromProto(static_cast<const v1::Playhead&>(from.Get()));
  return absl::OkStatus();
}

}  // namespace tapedeck::services::convert
