// What one part of a recording gets of the stream, for its session.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block/source.h"
#include "services/session/parts/dealer.h"

namespace tapedeck::services::parts {

// On the executor of the dealer.
class DealtSource final : public dataplane::Source {
 public:
  DealtSource(std::shared_ptr<Dealer> dealer, size_t part)
      : dealer_(std::move(dealer)), part_(part) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    return dealer_->Pull(part_, block);
  }
  void SetWaker(dataplane::Waker waker) override { dealer_->SetWaker(part_, std::move(waker)); }
  void Acknowledge(uint64_t watermark) override { dealer_->Acknowledge(part_, watermark); }
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return dealer_->Reject(header);
  }

 private:
  const std::shared_ptr<Dealer> dealer_;
  const size_t part_;
};

}  // namespace tapedeck::services::parts
