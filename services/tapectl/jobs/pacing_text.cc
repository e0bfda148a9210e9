#include "services/tapectl/jobs/pacing_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace tapedeck::services::tapectl {
namespace {

std::string DurationText(int64_t ns) { return absl::FormatDuration(absl::Nanoseconds(ns)); }

}  // namespace

absl::StatusOr<std::optional<double>> ParseRateFactor(absl::string_view text) {
  double factor = 0;
  if (text == "max") return std::nullopt;
  if (text == "recorded") return 1.0;
  if (absl::SimpleAtod(text, &factor)) return factor;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a rate: write recorded, max, or a number such as 0.5"));
}

std::string TimingText(const model::Timing& timing) {
  std::string out;
  if (timing.samples > 0) {
    absl::StrAppend(&out, "gave ", timing.samples, " samples in ", timing.blocks, " blocks");
    if (timing.turns > 0) absl::StrAppend(&out, ", ", timing.turns, " turns of the loop");
    out += '\n';
  }
  if (timing.samples_per_s > 0) {
    absl::StrAppend(
        &out, absl::StrFormat(
                  "at %.15g samples/s: %d underruns; jitter p50 %s, p99 %s, p99.9 %s, max %s\n",
                  timing.samples_per_s, timing.underruns, DurationText(JitterOf(timing, 0.5)),
                  DurationText(JitterOf(timing, 0.99)), DurationText(JitterOf(timing, 0.999)),
                  DurationText(timing.worst_jitter_ns)));
  }
  if (timing.after_at_ns != 0) {
    absl::StrAppend(&out, "first sample ", DurationText(timing.after_at_ns),
                    " after the time asked for\n");
  }
  return out;
}

}  // namespace tapedeck::services::tapectl
