// Gives what comes from one exact sample to another. What lies in one block is given where it is;
// where the first sample is not the first of its block, blocks are put together in a buffer.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "gpu_worker/pace/feed.h"

namespace tapedeck::gpu_worker::pace {

// One thread.
class RangeFeed final : public Feed {
 public:
  RangeFeed(const services::model::SampleRange& range, const FeedPlace& place);

  absl::Status Add(Arrived arrived) override;
  absl::Status End() override;
  bool sated() const override { return begun_ && held_end_ >= range_.end; }
  const Piece* Next() override;
  void Pop() override;

 private:
  struct Held {
    Arrived arrived;
    uint64_t first = 0;  // sample
    uint64_t end = 0;
    bool missing() const { return (arrived.header.flags & dataplane::kBlockMissing) != 0; }
  };

  absl::Status Begin(const dataplane::BlockHeader& header);
  Piece Make(uint64_t samples);
  // From several blocks into the buffer.
  void PutTogether(Piece& piece);

  const services::model::SampleRange range_;
  const FeedPlace place_;
  const uint64_t block_samples_;
  bool begun_ = false;
  bool ended_ = false;
  uint64_t next_ = 0;      // sample
  uint64_t held_end_ = 0;  // one after the last that has come
  uint64_t sequence_ = 0;
  std::deque<Held> held_;
  std::vector<std::byte> buffer_;
  std::optional<Piece> piece_;
};

}  // namespace tapedeck::gpu_worker::pace
