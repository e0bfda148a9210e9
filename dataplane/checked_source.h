// A Source that checks the CRC32C of every payload and asks again for those that fail.
#pragma once

#include <memory>

#include "dataplane/source.h"

namespace tapedeck::dataplane {

// On the session's executor. Payloads must be host memory.
class CheckedSource final : public Source {
 public:
  // A block that fails this often in a row was made wrong; asking again would go on for ever.
  static constexpr int kMaxRejects = 3;

  explicit CheckedSource(Source& inner) : inner_(inner) {}

  absl::StatusOr<Flow> Pull(Block* block) override;
  void SetWaker(Waker waker) override { inner_.SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t watermark) override { inner_.Acknowledge(watermark); }
  absl::Status Reject(const BlockHeader& header) override { return inner_.Reject(header); }

  uint64_t crc_errors() const { return crc_errors_; }

 private:
  Source& inner_;
  uint64_t crc_errors_ = 0;
  uint64_t last_rejected_ = 0;
  int rejects_ = 0;
};

}  // namespace tapedeck::dataplane
