// A source stage that waits for what a test puts in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker {

// Gives what the test puts in, and nothing else.
class Inlet {
 public:
  void Put(const stages::Filled& filled) {
    absl::MutexLock lock(&mutex_);
    filled_.push_back(filled);
    if (waker_) waker_();
  }
  void SetWaker(dataplane::Waker waker) {
    absl::MutexLock lock(&mutex_);
    waker_ = std::move(waker);
  }
  stages::Filled Take() {
    absl::MutexLock lock(&mutex_);
    ++asked_;
    if (filled_.empty()) return {.flow = dataplane::Flow::kNotNow};
    stages::Filled filled = filled_.front();
    filled_.pop_front();
    return filled;
  }
  void AwaitAsked(int times) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return asked_ >= times; };
    ASSERT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&enough), absl::Seconds(10)));
  }
  // As a source that ends when it is told to does: what it has, and then the end.
  void GiveRest() { gives_rest_ = true; }
  bool gives_rest() const { return gives_rest_; }
  int asked() const {
    absl::MutexLock lock(&mutex_);
    return asked_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::deque<stages::Filled> filled_ ABSL_GUARDED_BY(mutex_);
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  int asked_ ABSL_GUARDED_BY(mutex_) = 0;
  bool gives_rest_ = false;  // before there is a source
};

class InletSource final : public stages::SourceStage {
 public:
  explicit InletSource(Inlet& inlet) : inlet_(inlet) {}
  ~InletSource() override { inlet_.SetWaker(nullptr); }
  bool fills_host() const override { return true; }
  bool EndNow() override { return inlet_.gives_rest(); }
  void SetWaker(dataplane::Waker waker) override { inlet_.SetWaker(std::move(waker)); }
  absl::StatusOr<stages::Filled> Fill(const stages::Slot& slot, device::Queue& /*queue*/) override {
    stages::Filled filled = inlet_.Take();
    std::ranges::fill(slot.host.first(filled.bytes), static_cast<std::byte>(slot.sequence + 1));
    return filled;
  }

 private:
  Inlet& inlet_;
};

}  // namespace tapedeck::gpu_worker
