#include "gpu_worker/job/job_pacing.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pipeline/pipeline_factory.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::job {

using services::model::Playhead;

using services::model::GroupMember;

namespace {

// A slower one is a typing error.
constexpr double kLongestBlockS = 3600;

absl::StatusOr<double> RateOf(double factor, const services::Recording& recording,
                              uint64_t block_samples) {
  const auto refused = [](const auto&... why) {
    return services::ArgumentInvalid("pacing.rate_factor",
                                     absl::StrCat("pacing.rate_factor: ", why...));
  };
  if (recording.sample_rate <= 0) {
    return refused("the channel of ", recording.name,
                   " had no sample rate; give it one for its next recordings (tapectl channel "
                   "update --sample-rate), or play as fast as it goes (--rate max)");
  }
  const double rate = recording.sample_rate * factor;
  const double block_s = static_cast<double>(block_samples) / rate;
  if (block_s <= kLongestBlockS) return rate;
  return refused("at ", rate, " samples per second a block lasts ", block_s,
                 " s, more than an hour");
}

// What begins within a block, or ends there.
std::optional<services::model::SampleRange> RangeOf(const services::PlaybackSpec& spec) {
  if (spec.pacing.loop.has_value()) return spec.pacing.loop;
  const bool from_sample = spec.playhead.unit == Playhead::Unit::kSample && spec.playhead.start > 0;
  if (!from_sample && !spec.pacing.end_sample.has_value()) return std::nullopt;
  return services::model::SampleRange{
      .first = from_sample ? static_cast<uint64_t>(spec.playhead.start) : 0,
      .end = spec.pacing.end_sample.value_or(UINT64_MAX)};
}

absl::Status CheckLoopBytes(uint64_t samples, size_t sample_bytes) {
  if (samples <= services::model::kMostLoopBytes / sample_bytes) return absl::OkStatus();
  return services::ArgumentInvalid(
      "pacing.loop",
      absl::StrCat("pacing.loop: it has ", samples, " samples, and the worker's memory takes ",
                   services::model::kMostLoopBytes / sample_bytes, " (1 GiB)"));
}

std::string TextOf(const pace::ClockError& clock) {
  const std::string bound = absl::FormatDuration(absl::Nanoseconds(clock.error_ns));
  if (clock.synchronized) {
    return absl::StrCat("by the system clock, which is off by at most ", bound);
  }
  return absl::StrCat("by the system clock, which nothing synchronizes: the kernel's bound of ",
                      bound, " says little");
}

std::map<std::string, std::string> FactsOf(const pace::ClockError& clock) {
  return {{"synchronized", clock.synchronized ? "true" : "false"},
          {"clock_error_ns", absl::StrCat(clock.error_ns)}};
}

}  // namespace

absl::StatusOr<std::optional<pace::Plan>> PlanPace(const services::PlaybackSpec& spec,
                                                   const services::Recording& recording,
                                                   size_t slots) {
  const services::model::Pacing& pacing = spec.pacing;
  pace::Plan plan{.at_ns = pacing.at_ns,
                  .range = RangeOf(spec),
                  .loop = pacing.loop.has_value(),
                  .loop_count = pacing.loop_count,
                  .prefill = std::max<size_t>(slots / 4, 1)};
  const bool paced = pacing.rate_factor.has_value();
  if (!paced && plan.at_ns == 0 && !plan.range.has_value()) return std::nullopt;
  TD_ASSIGN_OR_RETURN(
      const size_t sample_bytes,
      pipeline::SampleBytesOf(services::model::SampleType(recording.origin, recording.datatype)));
  if (paced) {
    TD_ASSIGN_OR_RETURN(plan.samples_per_s, RateOf(*pacing.rate_factor, recording,
                                                   recording.block_bytes / sample_bytes));
  }
  if (plan.loop) {
    TD_RETURN_IF_ERROR(CheckLoopBytes(plan.range->end - plan.range->first, sample_bytes));
  }
  plan.meter = std::make_shared<pace::Meter>(plan.samples_per_s, plan.at_ns);
  return plan;
}

Playhead PlayheadOf(const services::PlaybackSpec& spec) {
  Playhead playhead = spec.playhead;
  if (spec.pacing.loop.has_value()) {
    playhead.unit = Playhead::Unit::kSample;
    playhead.start = static_cast<int64_t>(spec.pacing.loop->first);
  }
  return playhead;
}

services::model::RecordingGroup GroupOf(const GroupMember& member, int64_t at_ns,
                                        const pace::ClockError& clock) {
  return {.id = member.id,
          .name = member.name,
          .number = member.number,
          .members = member.members,
          .starts_at_ns = at_ns,
          .clock = clock.ClockText(),
          .clock_error_ns = clock.error_ns};
}

services::Note BeginNote(const pace::ClockError& clock) {
  return services::MakeNote("BEGINS_BY_CLOCK", absl::StrCat("begins ", TextOf(clock)),
                            FactsOf(clock));
}

services::Note GroupNote(const GroupMember& member, const pace::ClockError& clock) {
  auto facts = FactsOf(clock);
  facts["member"] = absl::StrCat(member.number);
  facts["members"] = absl::StrCat(member.members);
  facts["group"] = member.name;
  return services::MakeNote("GROUP_MEMBER",
                            absl::StrCat("member ", member.number, " of ", member.members, " of ",
                                         member.name, ", ", TextOf(clock)),
                            std::move(facts));
}

}  // namespace tapedeck::gpu_worker::job
