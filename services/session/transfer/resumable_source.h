// The source of a recording that may need several sessions: what one of them took and did not get
// acknowledged is given again to the next, with the same bytes and headers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/block/source.h"
#include "services/session/transfer/pump.h"

namespace tapedeck::services::session {

// On the executor of its sessions, one after the other. The source under it gives blocks in order
// from 0 and goes on by itself meanwhile.
class ResumableSource final : public dataplane::Source {
 public:
  explicit ResumableSource(std::unique_ptr<dataplane::Source> source);

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  // Once for each session.
  void SetWaker(dataplane::Waker waker) override;
  void Acknowledge(uint64_t watermark) override { source_->Acknowledge(watermark); }
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return source_->Reject(header);
  }

  // What a session has left, in order.
  void GiveBack(std::vector<dataplane::Block> blocks);
  // Nobody needs what lies below `next`, at most end(), any more.
  void Forget(uint64_t next);

  // The lowest sequence that it will give.
  uint64_t first() const { return again_.empty() ? end() : again_.front().header().sequence; }
  // One more than the highest that it has given.
  uint64_t end() const { return given_.blocks; }
  // How many blocks there are, once the source has ended well.
  std::optional<uint64_t> total() const { return total_; }
  // So many it will give a second time.
  size_t again() const { return again_.size(); }
  // Of the blocks below first().
  PumpCounts settled() const;

 private:
  struct Shared;

  const std::unique_ptr<dataplane::Source> source_;
  // With the source's waker, which any thread may call.
  const std::shared_ptr<Shared> shared_;
  std::deque<dataplane::Block> again_;
  PumpCounts given_;  // each block once
  std::optional<uint64_t> total_;
};

}  // namespace tapedeck::services::session
