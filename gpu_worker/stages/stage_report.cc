#include "gpu_worker/stages/stage_report.h"

#include <utility>

#include "services/model/recording/lost.h"

namespace tapedeck::gpu_worker::stages {

using services::Annotation;

void StageReport::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
  if (waker_ && !ready_.empty()) waker_();
}

std::shared_ptr<StageReport> StageReport::Second() {
  auto second = std::make_shared<StageReport>([] { return services::Notes(); });
  absl::MutexLock lock(&mutex_);
  for (const Annotation& annotation : ready_) second->Mark(annotation);
  second_ = second;
  return second;
}

void StageReport::CountIn(uint64_t samples) {
  absl::MutexLock lock(&mutex_);
  samples_for_one_ = samples;
}

void StageReport::Mark(const Annotation& annotation) {
  absl::MutexLock lock(&mutex_);
  if (second_ != nullptr) second_->Mark(annotation);
  ready_.push_back(annotation);
  if (waker_) waker_();
}

void StageReport::Annotate(const Annotation& annotation) {
  absl::MutexLock lock(&mutex_);
  if (second_ != nullptr) second_->Annotate(annotation);
  if (alone_ < kMostAlone) {
    ++alone_;
    ready_.push_back(annotation);
  } else {
    if (!together_.has_value()) together_ = Together{.span = annotation};
    Annotation& span = together_->span;
    span.sample_count = annotation.sample_start + annotation.sample_count - span.sample_start;
    together_->samples += Counted(annotation).sample_count;
    if (++together_->places < kTogether) return;
    ready_.push_back(Summary(*std::exchange(together_, std::nullopt)));
  }
  if (waker_) waker_();
}

std::vector<Annotation> StageReport::Take(Which which) {
  absl::MutexLock lock(&mutex_);
  std::vector<Annotation> taken = std::exchange(ready_, {});
  if (which == Which::kAll && together_.has_value()) {
    taken.push_back(Summary(*std::exchange(together_, std::nullopt)));
  }
  for (Annotation& annotation : taken) annotation = Counted(std::move(annotation));
  return taken;
}

Annotation StageReport::Counted(Annotation annotation) const {
  const uint64_t end = annotation.sample_start + annotation.sample_count;
  annotation.sample_start /= samples_for_one_;
  if (annotation.sample_count == 0) return annotation;
  const uint64_t whole = (end + samples_for_one_ - 1) / samples_for_one_;
  annotation.sample_count = whole - annotation.sample_start;
  return annotation;
}

Annotation StageReport::Summary(const Together& together) {
  Annotation annotation = together.span;
  if (together.places > 1) {
    annotation.comment = services::model::TextOfLost(together.samples, together.places);
  }
  return annotation;
}

}  // namespace tapedeck::gpu_worker::stages
