#include "gpu_worker/pipeline/stage_meter.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::pipeline {

using services::model::kPartWords;
static_assert(kPartWords.size() == kParts);

void StageMeter::OnDevice(size_t blocks) {
  if (!beside_) return;
  const int64_t now_ns = clock_.NowNs();
  if (on_device_ > 0) Divide(now_ns - device_since_ns_);
  device_since_ns_ = now_ns;
  on_device_ = blocks;
}

void StageMeter::Sample(device::Queue& queue, uint64_t sequence) {
  seen_ = nullptr;
  if (!beside_ || sequence % kSampleEvery != 0) return;
  seen_ = std::make_shared<Seen>();
  queue.Then([this, seen = seen_](const absl::Status&) { seen->last_ns = clock_.NowNs(); });
}

void StageMeter::Mark(device::Queue& queue, Part part) {
  if (seen_ == nullptr) return;
  queue.Then([this, seen = seen_, part](const absl::Status&) {
    const int64_t now_ns = clock_.NowNs();
    Sum(sampled_, part)
        .fetch_add(now_ns - seen->last_ns.exchange(now_ns), std::memory_order_relaxed);
  });
}

void StageMeter::Divide(int64_t busy_ns) {
  undivided_ns_ += busy_ns;
  double sampled_ns = 0;
  for (const auto& part : sampled_) sampled_ns += static_cast<double>(part);
  if (sampled_ns <= 0) return;
  const auto all_ns = static_cast<double>(undivided_ns_);
  for (size_t i = 0; i < kParts; ++i) {
    device_[i] += static_cast<int64_t>(all_ns * static_cast<double>(sampled_[i]) / sampled_ns);
  }
  undivided_ns_ = 0;
}

services::StageTimes StageMeter::Times() const {
  services::StageTimes times;
  for (size_t i = 0; i < kParts; ++i) {
    if (thread_[i] > 0) times.push_back({absl::StrCat("work.", kPartWords[i]), "", thread_[i]});
    if (device_[i] > 0) times.push_back({absl::StrCat("device.", kPartWords[i]), "", device_[i]});
  }
  return times;
}

}  // namespace tapedeck::gpu_worker::pipeline
