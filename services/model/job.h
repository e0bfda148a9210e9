// A job and how fast it went, in plain values. Field meanings are those of
// tapedeck/v1/pipeline.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataplane/block/flow.h"
#include "dataplane/transfer/counters.h"
#include "services/model/rail_progress.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "services/model/words/note.h"
#include "services/model/words/stage_time.h"
#include "services/model/words/timing.h"

namespace tapedeck::services::model {

enum class JobState {
  kStarting = 1,
  kRunning = 2,
  kSucceeded = 3,
  kFailed = 4,
  kCancelled = 5,
  kResuming = 6,
  kNotCompared = 8,
  kPreparing = 9
};

template <>
struct EnumNames<JobState> {
  using enum JobState;
  static constexpr absl::string_view kWhat = "state of a job";
  static constexpr std::pair<JobState, absl::string_view> kTable[] = {
      {kStarting, "STARTING"},        {kRunning, "RUNNING"},
      {kSucceeded, "SUCCEEDED"},      {kFailed, "FAILED"},
      {kCancelled, "CANCELLED"},      {kResuming, "RESUMING"},
      {kNotCompared, "NOT_COMPARED"}, {kPreparing, "PREPARING"}};
};

// What a job records beside its recording.
struct JobOutput {
  std::string channel;
  std::string recording;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t lost_blocks = 0;
  absl::Status error;  // with its reason
};

template <>
struct Fields<JobOutput> {
  static constexpr auto kList = std::make_tuple(
      Report(&JobOutput::channel, "channel"), Report(&JobOutput::recording, "recording"),
      Report(&JobOutput::blocks, "blocks"), Report(&JobOutput::bytes, "bytes"),
      Report(&JobOutput::lost_blocks, "lost_blocks"),
      Report(&JobOutput::error, "error", {.sparse = true}));
};

// 10^6 bytes per second, which is bytes per microsecond.
constexpr double MegabytesPerSecond(uint64_t bytes, int64_t elapsed_ns) {
  return elapsed_ns > 0 ? static_cast<double>(bytes) * 1e3 / static_cast<double>(elapsed_ns) : 0;
}

// A rail as a job tells of it.
struct JobRail {
  std::string name;
  uint64_t blocks = 0;
  double mb_per_s = 0;
  bool up = false;
  std::string cause;
};

template <>
struct Fields<JobRail> {
  static constexpr auto kList =
      std::make_tuple(Report(&JobRail::name, "name"), Report(&JobRail::blocks, "blocks"),
                      Report(&JobRail::mb_per_s, "mb_per_s", {.unit = Unit::kMegabytesPerS}),
                      Report(&JobRail::up, "up"), Report(&JobRail::cause, "cause"));
};

struct Job {
  std::string name;  // jobs/{job}
  dataplane::Direction direction = dataplane::Direction::kRecord;
  JobState state = JobState::kStarting;
  std::string recording;
  std::string device;
  std::string group;  // of jobs that were started together; empty: it was started alone
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> total_blocks;  // none: unknown
  std::optional<double> progress;        // 0 to 1, of what was asked for; none: unknown
  int64_t elapsed_ns = 0;
  uint64_t lost_blocks = 0;
  int64_t start_time_ns = 0;          // UTC
  int64_t end_time_ns = 0;            // 0 while it runs, and of a job whose worker died
  std::vector<std::string> captures;  // names of recordings, oldest first
  std::string target;                 // the channel or recording that it was started for; not sent
  Notes notes;                        // no entry of the list: of two fields in the message
  dataplane::Counters counters;
  std::vector<RailProgress> rails;
  StageTimes stage_times;        // of both ends; no entry of the list
  std::optional<Timing> timing;  // none: nobody has asked for a pace, a range or a time
  std::vector<JobOutput> outputs;
  absl::Status error;  // with its reason; OK unless failed or cancelled
};

inline double RateOf(const Job& job) { return MegabytesPerSecond(job.bytes, job.elapsed_ns); }

inline std::vector<JobRail> RailsOf(const Job& job) {
  std::vector<JobRail> rails;
  for (const RailProgress& rail : job.rails) {
    rails.push_back({.name = rail.name,
                     .blocks = rail.blocks,
                     .mb_per_s = MegabytesPerSecond(rail.bytes, job.elapsed_ns),
                     .up = rail.up,
                     .cause = rail.cause});
  }
  return rails;
}

// The worker says it.
template <>
struct Fields<Job> {
  static constexpr auto kList = std::make_tuple(
      Describe(&Job::name, {.name = "name", .role = Role::kName}),
      Report(&Job::direction, "direction", {.required = true}),
      Report(&Job::state, "state", {.required = true}), Report(&Job::recording, "recording"),
      Report(&Job::device, "device"), Report(&Job::group, "group"), Report(&Job::blocks, "blocks"),
      Report(&Job::bytes, "bytes"), Report(&Job::total_blocks, "total_blocks"),
      Report(&Job::progress, "progress"),
      Report(&Job::elapsed_ns, "elapsed", {.unit = Unit::kDuration}),
      Report(&Job::lost_blocks, "lost_blocks"),
      Report(&Job::start_time_ns, "start_time", {.unit = Unit::kTime}),
      Report(&Job::end_time_ns, "end_time", {.unit = Unit::kTime}),
      Report(&Job::captures, "captures"),
      Derive(&RateOf, {.name = "mb_per_s", .role = Role::kReported, .unit = Unit::kMegabytesPerS}),
      Report(&Job::counters, "counters", {.flat = true}),
      Derive(&RailsOf, {.name = "rails", .role = Role::kReported}),
      Report(&Job::timing, "timing", {.sparse = true}), Report(&Job::outputs, "outputs"),
      Report(&Job::error, "error", {.sparse = true}));
};

// It changes no more.
inline bool HasEnded(const Job& job) {
  switch (job.state) {
    case JobState::kSucceeded:
    case JobState::kFailed:
    case JobState::kCancelled:
    case JobState::kNotCompared:
      return true;
    case JobState::kStarting:
    case JobState::kRunning:
    case JobState::kResuming:
    case JobState::kPreparing:
      return false;
  }
  return false;
}

// Its worker died while it ran: what it says of blocks is the least that they were.
inline bool BrokeOff(const Job& job) { return HasEnded(job) && job.end_time_ns == 0; }

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::Job;
using model::JobOutput;
using model::JobState;

}  // namespace tapedeck::services
