// A Source that gives blocks in the order of their sequence, for consumers that need it. It holds
// at most what the sender's window lets arrive early, which is the receiver's ring.
#pragma once

#include <map>

#include "dataplane/block/source.h"

namespace tapedeck::dataplane {

// On the session's executor.
class OrderedSource final : public Source {
 public:
  explicit OrderedSource(Source& inner) : inner_(inner) {}

  absl::StatusOr<Flow> Pull(Block* block) override;
  void SetWaker(Waker waker) override { inner_.SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t watermark) override { inner_.Acknowledge(watermark); }
  absl::Status Reject(const BlockHeader& header) override { return inner_.Reject(header); }

 private:
  Source& inner_;
  uint64_t next_ = 0;
  std::map<uint64_t, Block> early_;
};

}  // namespace tapedeck::dataplane
