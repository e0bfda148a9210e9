#include "gpu_worker/job/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tapedeck::gpu_worker::job {
namespace {

double Share(double done, double all) { return std::clamp(done / all, 0.0, 1.0); }

}  // namespace

Goal GoalOf(const std::optional<pace::Plan>& pace, uint64_t block_samples) {
  if (!pace.has_value() || !pace->range.has_value()) return {.told = true};
  if (pace->loop) return {.turns = pace->loop_count};
  const auto& [first, end] = *pace->range;
  if (end == UINT64_MAX || end <= first) return {.told = true};
  return {.blocks = (end - 1) / block_samples - first / block_samples + 1, .told = true};
}

std::optional<uint64_t> TotalOf(const Goal& goal, uint64_t told) {
  if (!goal.told) told = 0;
  if (goal.blocks == 0 && told == 0) return std::nullopt;
  if (goal.blocks == 0 || told == 0) return std::max(goal.blocks, told);
  return std::min(goal.blocks, told);
}

std::optional<double> ProgressOf(const Goal& goal, const services::Job& job, int64_t now_ns) {
  if (goal.duration_ns != 0) {
    const int64_t began_ns = goal.began ? goal.began() : 0;
    if (began_ns == 0) return 0;
    return Share(static_cast<double>(now_ns - began_ns), static_cast<double>(goal.duration_ns));
  }
  if (goal.turns != 0) {
    const uint64_t turns = job.timing.has_value() ? job.timing->turns : 0;
    return Share(static_cast<double>(turns), static_cast<double>(goal.turns));
  }
  if (job.total_blocks.value_or(0) == 0) return std::nullopt;
  return Share(static_cast<double>(job.blocks), static_cast<double>(*job.total_blocks));
}

services::JobState StateOf(const services::session::Snapshot& snapshot, services::JobState state) {
  using services::JobState;
  if (snapshot.running) return JobState::kRunning;
  if (snapshot.resuming) return JobState::kResuming;
  if (snapshot.memory_ready.has_value()) return JobState::kPreparing;
  return state == JobState::kPreparing ? JobState::kStarting : state;
}

void AwayTime::See(bool away, int64_t now_ns) {
  if (since_ns_.has_value()) away_ns_ += now_ns - *since_ns_;
  since_ns_ = away ? std::optional(now_ns) : std::nullopt;
}

std::optional<services::Note> AwayTime::Note() const {
  if (away_ns_ == 0) return std::nullopt;
  const std::string seconds = absl::StrFormat("%.2f", static_cast<double>(away_ns_) / 1e9);
  return services::MakeNote("STORAGE_AWAY",
                            absl::StrCat("without a storage node for ", seconds,
                                         " s in all; elapsed and MB/s exclude that time"),
                            {{"seconds", seconds}});
}

}  // namespace tapedeck::gpu_worker::job
