// What a transfer has spent its time on: sums by words, as both ends tell each other, a job answers
// and a recording keeps. What the words mean stands in services/observe/explain/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

struct StageTime {
  std::string what;  // "work.source"
  std::string rail;  // the worker's name; empty: it is about none
  int64_t time_ns = 0;
  bool operator==(const StageTime&) const = default;
};

template <>
struct Fields<StageTime> {
  static constexpr auto kList =
      std::make_tuple(Report(&StageTime::what, "what"), Report(&StageTime::rail, "rail"),
                      Report(&StageTime::time_ns, "time", {.unit = Unit::kDuration}));
};

// In no order, each word and rail once.
using StageTimes = std::vector<StageTime>;

// Of both ends together there are fewer, whatever rails there are: 64 at most.
inline constexpr size_t kMaxStageTimes = 128;
inline constexpr size_t kMaxStageWordBytes = 64;

// The parts of a pipeline's work, of which the words begin with "work." and "device.".
inline constexpr std::array<absl::string_view, 5> kPartWords = {"source", "gpu", "copy", "crc",
                                                                "sink"};

// What this version knows; services/observe/explain/README.md says what each is.
inline constexpr absl::string_view kStageWords[] = {
    "work.source",   "work.gpu",     "work.copy",      "work.crc",    "work.sink",
    "device.source", "device.gpu",   "device.copy",    "device.crc",  "send.thread",
    "send.idle",     "send.wire",    "send.credits",   "send.ring",   "send.acknowledge",
    "send.rail",     "receive.idle", "receive.thread", "receive.crc", "receive.sink",
    "store.flush"};

// Adds `factor` times what is in `more`; what goes beyond kMaxStageTimes is left out, so that sums
// over sessions with rails of any name stay small.
void Add(const StageTimes& more, StageTimes& to, int factor = 1);

// Adds those that this version knows, whatever rail they are about: for sums that are kept for
// ever.
void AddKnown(const StageTimes& more, StageTimes& to);

// What came to `now` since `before`.
StageTimes Since(const StageTimes& before, StageTimes now);

// The sum over all rails; 0 if it is not there.
int64_t TimeOf(const StageTimes& times, absl::string_view what);

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::StageTime;
using model::StageTimes;

}  // namespace tapedeck::services
