#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/server/handlers/validate.h"

namespace tapedeck::services::server {
namespace {

using convert::FieldError;
using model::Playhead;

absl::Status CheckFactor(double factor) {
  // Written so that a NaN fails.
  if (factor >= model::kLeastRateFactor && factor <= model::kMostRateFactor) {
    return absl::OkStatus();
  }
  return FieldError("pacing.rate_factor",
                    absl::StrCat("is ", factor, ", not ", model::kLeastRateFactor, " to ",
                                 model::kMostRateFactor));
}

// The sample to begin with, which may lie within a block; 0: none is chosen.
uint64_t FirstOf(const Playhead& playhead) {
  const bool chosen = playhead.unit == Playhead::Unit::kSample && playhead.start > 0;
  return chosen ? static_cast<uint64_t>(playhead.start) : 0;
}

absl::Status CheckEnd(uint64_t end, const Playhead& playhead) {
  const uint64_t first = FirstOf(playhead);
  if (end > first && end <= INT64_MAX) return absl::OkStatus();
  return FieldError("pacing.end_sample",
                    absl::StrCat("is ", end, ", which is not a sample after ", first));
}

absl::Status CheckLoop(const model::Pacing& pacing, const Playhead& playhead) {
  const model::SampleRange& loop = *pacing.loop;
  if (loop.first >= loop.end || loop.end > INT64_MAX) {
    return FieldError("pacing.loop", absl::StrCat("is from ", loop.first, " to before ", loop.end,
                                                  ": it must end after it begins"));
  }
  if (pacing.end_sample.has_value()) {
    return FieldError("pacing.end_sample", "is not for a loop, which has its own end");
  }
  if (playhead.start != 0 || playhead.unit != Playhead::Unit::kBlock) {
    return FieldError("playhead", "is not for a loop, which has its own beginning");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAt(absl::string_view field, int64_t at_ns) {
  if (at_ns == 0) return absl::OkStatus();
  const int64_t now_ns = dataplane::SystemClock().WallNs();
  if (at_ns > now_ns && at_ns - now_ns <= model::kMostAheadNs) return absl::OkStatus();
  return FieldError(
      field, absl::StrCat("is ", absl::FormatTime(absl::FromUnixNanos(at_ns), absl::UTCTimeZone()),
                          ", which is not within a day from now, ",
                          absl::FormatTime(absl::FromUnixNanos(now_ns), absl::UTCTimeZone())));
}

absl::Status CheckPacing(const PlaybackSpec& spec) {
  const model::Pacing& pacing = spec.pacing;
  if (pacing.rate_factor.has_value()) TD_RETURN_IF_ERROR(CheckFactor(*pacing.rate_factor));
  if (pacing.end_sample.has_value()) {
    TD_RETURN_IF_ERROR(CheckEnd(*pacing.end_sample, spec.playhead));
  }
  if (pacing.loop.has_value()) TD_RETURN_IF_ERROR(CheckLoop(pacing, spec.playhead));
  if (pacing.loop_count != 0 && !pacing.loop.has_value()) {
    return FieldError("pacing.loop_count", "needs a loop");
  }
  if (pacing.loop_count > model::kMostLoopTurns) {
    return FieldError("pacing.loop_count", "is above 2^32");
  }
  const bool exact =
      FirstOf(spec.playhead) != 0 || pacing.end_sample.has_value() || pacing.loop.has_value();
  if (exact && !spec.transfer.transforms.empty()) {
    return FieldError(
        "transforms",
        "work on whole blocks; start at a block or a time, and give no end and no loop");
  }
  return CheckAt("pacing.at", pacing.at_ns);
}

}  // namespace tapedeck::services::server
