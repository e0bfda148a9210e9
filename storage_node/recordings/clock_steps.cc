#include "storage_node/recordings/clock_steps.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/log.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::recordings {
namespace {

constexpr int64_t kLeastStepNs = 60 * dataplane::kSecondNs;
constexpr int64_t kSaveNs = 600 * dataplane::kSecondNs;
constexpr size_t kMostSteps = 16;
constexpr char kWhat[] = "clock steps";

// A node that was off looks like a clock that went ahead.
void Tell(bool started, int64_t by_ns) {
  dataplane::Log(started ? dataplane::LogLevel::kInfo : dataplane::LogLevel::kWarning, "retention",
                 started ? "the node was off, or the clock jumped ahead: a max_age of less than "
                           "twice that starts again for older recordings"
                         : "the clock jumped ahead: a max_age of less than twice that starts again "
                           "for older recordings",
                 {{"by", absl::FormatDuration(absl::Seconds(by_ns / dataplane::kSecondNs))}});
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::string FileOf(const std::string& state_dir) { return absl::StrCat(state_dir, "/clock.json"); }

}  // namespace

ClockSteps::ClockSteps(std::string state_dir, const dataplane::Clock& clock)
    : state_dir_(std::move(state_dir)), clock_(clock) {
  Read();
}

void ClockSteps::Read() {
  const auto text = disk::ReadFile(FileOf(state_dir_), format::kMaxConfigBytes, state_dir_);
  const auto object = text.ok() ? format::OpenJson(*text, kWhat, format::kMaxConfigBytes)
                                : absl::StatusOr<nlohmann::json>(text.status());
  absl::MutexLock lock(&mutex_);
  seen_steady_ns_ = clock_.NowNs();
  bool good = object.ok();
  if (good) {
    format::JsonFields fields(*object, kWhat);
    seen_ns_ = fields.Int("seen_ns", 0, INT64_MAX);
    for (const auto& entry : fields.List("steps")) {
      good = good && entry.is_object() && steps_.size() < kMostSteps;
      if (!good) break;
      format::JsonFields step(entry, kWhat);
      steps_.push_back(
          {.at_ns = step.Int("at_ns", 0, INT64_MAX), .by_ns = step.Int("by_ns", 0, INT64_MAX)});
      good = step.status().ok();
    }
    good = good && fields.status().ok();
  }
  if (good) return;
  steps_.clear();
  seen_ns_ = clock_.WallNs();
  Add({.at_ns = seen_ns_, .by_ns = INT64_MAX});
}

// Of too many, the two that are the smallest together become one at the time of the later: more
// recordings stay.
void ClockSteps::Add(Step step) {
  changed_ = true;
  steps_.push_back(step);
  if (steps_.size() <= kMostSteps) return;
  size_t least = 0;
  for (size_t i = 1; i + 1 < steps_.size(); ++i) {
    if (Sum(steps_[i], steps_[i + 1]) < Sum(steps_[least], steps_[least + 1])) least = i;
  }
  steps_[least + 1].by_ns = Sum(steps_[least], steps_[least + 1]);
  steps_.erase(steps_.begin() + static_cast<ptrdiff_t>(least));
}

int64_t ClockSteps::Sum(const Step& a, const Step& b) { return Plus(a.by_ns, b.by_ns); }

void ClockSteps::Look() {
  absl::MutexLock lock(&mutex_);
  const int64_t steady_ns = clock_.NowNs();
  const int64_t now_ns = clock_.WallNs();
  const int64_t by_ns = now_ns - seen_ns_ - (steady_ns - seen_steady_ns_);
  seen_ns_ = now_ns;
  seen_steady_ns_ = steady_ns;
  const bool started = !std::exchange(looked_, true);
  // Back behind a step: it may have been put right, or have got worse.
  for (Step& step : steps_) {
    if (step.at_ns <= now_ns) continue;
    step.at_ns = now_ns;
    changed_ = true;
  }
  small_ns_ = std::max<int64_t>(0, Plus(small_ns_, by_ns));
  if (small_ns_ < kLeastStepNs) return;
  Add({.at_ns = now_ns, .by_ns = std::exchange(small_ns_, 0)});
  if (by_ns >= kLeastStepNs) Tell(started, by_ns);
}

AgeBase ClockSteps::Of(int64_t max_age_ns) const {
  absl::MutexLock lock(&mutex_);
  AgeBase base{.max_age_ns = max_age_ns, .now_ns = seen_ns_};
  int64_t sum_ns = 0;
  for (size_t i = steps_.size(); i-- > 0 && base.since_ns == 0;) {
    sum_ns = Plus(sum_ns, steps_[i].by_ns);
    if (sum_ns > max_age_ns / 2) base.since_ns = steps_[i].at_ns;
  }
  return base;
}

absl::Status ClockSteps::Save() {
  {
    absl::MutexLock lock(&mutex_);
    if (!changed_ && clock_.NowNs() - saved_steady_ns_ < kSaveNs) return absl::OkStatus();
  }
  return Write();
}

absl::Status ClockSteps::Write() {
  nlohmann::json steps = nlohmann::json::array();
  int64_t seen_ns = 0;
  {
    absl::MutexLock lock(&mutex_);
    for (const Step& step : steps_) steps.push_back({{"at_ns", step.at_ns}, {"by_ns", step.by_ns}});
    seen_ns = seen_ns_;
    saved_steady_ns_ = clock_.NowNs();
    changed_ = false;
  }
  const absl::Status status = disk::WriteFileAtomically(
      FileOf(state_dir_),
      format::SealJson({{"version", 1}, {"seen_ns", seen_ns}, {"steps", std::move(steps)}}),
      state_dir_);
  if (!status.ok()) {
    absl::MutexLock lock(&mutex_);
    changed_ = true;
  }
  return disk::OfState(state_dir_, status);
}

}  // namespace tapedeck::storage_node::recordings
