// The block assemblers of a playback that chooses its samples.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/memory/memory.h"
#include "gpu_worker/pace/block_assembler.h"

namespace tapedeck::gpu_worker::pace {

// Gives what comes from one exact sample to another. What lies in one block is given where it is;
// where the first sample is not the first of its block, blocks are put together in a buffer. One
// thread.
class RangeAssembler final : public BlockAssembler {
 public:
  RangeAssembler(const services::model::SampleRange& range, const SinkTraits& sink);

  absl::Status Add(Arrived arrived) override;
  absl::Status End() override;
  bool sated() const override { return begun_ && held_end_ >= range_.end; }
  const Piece* Next() override;
  void Pop() override;

 private:
  struct PendingBlock {
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
  const SinkTraits sink_;
  const uint64_t block_samples_;
  bool begun_ = false;
  bool ended_ = false;
  uint64_t next_ = 0;      // sample
  uint64_t held_end_ = 0;  // one after the last that has come
  uint64_t sequence_ = 0;
  std::deque<PendingBlock> held_;
  std::vector<std::byte> buffer_;
  std::optional<Piece> piece_;
};

// Gives a range of samples again and again. The range lies in memory once, with its beginning again
// behind its end, so that every block lies there in one piece and none has a seam; the storage node
// sends it once. One thread.
class LoopAssembler final : public BlockAssembler {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no memory for it.
  static absl::StatusOr<std::unique_ptr<LoopAssembler>> Create(const Plan& plan,
                                                               const SinkTraits& sink);

  // DATA_LOSS (BLOCK_DAMAGED) where samples of the range are missing.
  absl::Status Add(Arrived arrived) override;
  absl::Status End() override;
  bool sated() const override { return full_; }
  const Piece* Next() override;
  void Pop() override;

 private:
  LoopAssembler(const Plan& plan, const SinkTraits& sink,
                std::unique_ptr<dataplane::Memory> memory);

  uint64_t length() const { return range_.end - range_.first; }
  absl::Status Begin(const dataplane::BlockHeader& header);
  void Keep(const Arrived& arrived, uint64_t first, uint64_t end);
  // All of the range is there.
  void Close(Arrived last);

  const services::model::SampleRange range_;
  const SinkTraits sink_;
  const uint64_t block_samples_;
  const uint64_t total_;  // samples to give; UINT64_MAX: for ever
  const std::unique_ptr<dataplane::Memory> memory_;
  bool begun_ = false;
  bool full_ = false;
  uint64_t come_end_ = 0;                       // one after the last sample that has come
  int64_t begin_ns_ = dataplane::kTimeUnknown;  // of the range's first sample
  // Not done before all is given: while the storage node waits for that, its session stays.
  std::optional<Arrived> last_;
  uint64_t given_ = 0;
  uint64_t sequence_ = 0;
  Piece piece_;
  bool made_ = false;
};

}  // namespace tapedeck::gpu_worker::pace
