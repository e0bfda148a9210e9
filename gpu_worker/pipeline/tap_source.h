// The second output of a recording as a Source: what its session sends.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block/source.h"
#include "gpu_worker/pipeline/outlet.h"

namespace tapedeck::gpu_worker::pipeline {

// Lives on its session's executor. Blocks come in order. Once it is gone, so is the second output,
// and the pipeline goes on without.
class TapSource final : public dataplane::Source {
 public:
  // The tap has the other end: either may go first.
  explicit TapSource(std::shared_ptr<Outlet> outlet) : outlet_(std::move(outlet)) {}
  ~TapSource() override { outlet_->Close(); }

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    return outlet_->Pull(block);
  }
  void SetWaker(dataplane::Waker waker) override { outlet_->SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t /*watermark*/) override {}
  absl::Status Reject(const dataplane::BlockHeader& header) override { return NoOtherCopy(header); }

 private:
  const std::shared_ptr<Outlet> outlet_;
};

}  // namespace tapedeck::gpu_worker::pipeline
