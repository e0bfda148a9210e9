// Which samples a playback gives and when, and when those of a job went by, in plain values. Field
// meanings are those of tapedeck/v1/pacing.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/clock.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

struct SampleRange {
  uint64_t first = 0;
  uint64_t end = 0;
  bool operator==(const SampleRange&) const = default;
};

template <>
struct Fields<SampleRange> {
  static constexpr auto kList = std::make_tuple(Describe(&SampleRange::first, {.name = "first"}),
                                                Describe(&SampleRange::end, {.name = "end"}));
};

struct Pacing {
  std::optional<double> rate_factor;
  std::optional<uint64_t> end_sample;
  std::optional<SampleRange> loop;
  uint64_t loop_count = 0;  // 0: until it is cancelled
  int64_t at_ns = 0;        // UTC; 0: as soon as it can be
  bool operator==(const Pacing&) const = default;
};

template <>
struct Fields<Pacing> {
  static constexpr auto kList =
      std::make_tuple(Describe(&Pacing::rate_factor, {.name = "rate_factor"}),
                      Describe(&Pacing::end_sample, {.name = "end_sample"}),
                      Describe(&Pacing::loop, {.name = "loop"}),
                      Describe(&Pacing::loop_count, {.name = "loop_count"}),
                      Describe(&Pacing::at_ns, {.name = "at", .unit = Unit::kTime}));
};

// From thousand-year recordings to no faster than memory is: beyond it is a typing error.
inline constexpr double kLeastRateFactor = 1e-6;
inline constexpr double kMostRateFactor = 1e6;
inline constexpr uint64_t kMostLoopTurns = uint64_t{1} << 32;
// A loop lies in the worker's memory.
inline constexpr uint64_t kMostLoopBytes = uint64_t{1} << 30;
// A job that waits for its time holds a session of the storage node.
inline constexpr int64_t kMostAheadNs = 24 * 3600 * dataplane::kSecondNs;

struct JitterCount {
  int64_t up_to_ns = 0;  // 0: more than all others
  uint64_t blocks = 0;
  bool operator==(const JitterCount&) const = default;
};

template <>
struct Fields<JitterCount> {
  static constexpr auto kList =
      std::make_tuple(Report(&JitterCount::up_to_ns, "up_to", {.unit = Unit::kDuration}),
                      Report(&JitterCount::blocks, "blocks"));
};

struct Timing {
  double samples_per_s = 0;
  uint64_t blocks = 0;
  uint64_t samples = 0;
  uint64_t turns = 0;
  uint64_t underruns = 0;
  std::vector<JitterCount> jitter;
  int64_t worst_jitter_ns = 0;
  int64_t first_time_ns = 0;  // UTC; 0: there is none yet
  int64_t after_at_ns = 0;
  bool operator==(const Timing&) const = default;
};

// So many of the blocks, as a share from 0 to 1, were late by no more than this: the bound of the
// count that has the last of them, or the worst jitter where that is less. 0 if there are none.
inline int64_t JitterOf(const Timing& timing, double share) {
  uint64_t all = 0;
  for (const JitterCount& count : timing.jitter) all += count.blocks;
  double below = 0;
  for (const JitterCount& count : timing.jitter) {
    below += static_cast<double>(count.blocks);
    if (below < share * static_cast<double>(all) || below == 0) continue;
    if (count.up_to_ns == 0) break;
    return std::min(count.up_to_ns, timing.worst_jitter_ns);
  }
  return timing.worst_jitter_ns;
}

// In no message.
constexpr FieldTraits Percentile(absl::string_view name) {
  return {.name = name, .role = Role::kReported, .unit = Unit::kDuration, .in_some = true};
}

template <>
struct Fields<Timing> {
  static constexpr auto kList = std::make_tuple(
      Report(&Timing::samples_per_s, "samples_per_s"), Report(&Timing::blocks, "blocks"),
      Report(&Timing::samples, "samples"), Report(&Timing::turns, "turns"),
      Report(&Timing::underruns, "underruns"), Report(&Timing::jitter, "jitter"),
      Report(&Timing::worst_jitter_ns, "worst_jitter", {.unit = Unit::kDuration}),
      Report(&Timing::first_time_ns, "first_time", {.unit = Unit::kTime}),
      Report(&Timing::after_at_ns, "after_at", {.unit = Unit::kDuration}),
      Derive(
          +[](const Timing& timing) { return JitterOf(timing, 0.5); }, Percentile("jitter_p50")),
      Derive(
          +[](const Timing& timing) { return JitterOf(timing, 0.99); }, Percentile("jitter_p99")),
      Derive(
          +[](const Timing& timing) { return JitterOf(timing, 0.999); },
          Percentile("jitter_p999")));
};

}  // namespace tapedeck::services::model
