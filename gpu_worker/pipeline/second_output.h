// The second output of a recording: transforms of a copy of each block that its pipeline makes, on
// the same queue of the device, in blocks of their own. The stream of copies is cut anew, so that
// blocks of the one may begin and end anywhere in those of the other. What becomes one block of the
// second may be more than a worker holds: it is made in pieces.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/source.h"
#include "dataplane/memory/slot_pool.h"
#include "gpu_worker/pipeline/device_work.h"
#include "gpu_worker/pipeline/outlet.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::gpu_worker::pipeline {

struct SecondOutputPlan {
  std::unique_ptr<DeviceWork> work;           // on the queue of the pipeline's own
  std::shared_ptr<dataplane::SlotPool> ring;  // of MakeRing; the second output is its only taker
  std::shared_ptr<Outlet> outlet;             // a SecondOutputSource has the other end
  size_t main_bytes = 0;                      // of the pipeline's blocks
  size_t bytes_before = 0;                    // so many of those bytes become one piece
  size_t piece_bytes = 0;                     // whole pieces are a block
  size_t block_bytes = 0;
  size_t sample_bytes = 0;  // of the payload's datatype
};

// Owned by a pipeline, used by its work thread; goes after the queue of the pipeline's work, which
// then is at work on nothing of it.
class SecondOutput {
 public:
  explicit SecondOutput(SecondOutputPlan plan) : plan_(std::move(plan)) {}
  // What ends early gives what is done.
  ~SecondOutput();

  // Before anything else; any thread. `on_done` runs as one of `tasks` whenever a block is done, or
  // there may be a slot again.
  void Start(std::shared_ptr<services::TaskQueue> tasks, std::function<void()> on_done);

  // Enqueues what becomes of a block of the pipeline, whose payload lies, or will, in memory of the
  // device; of a missing one nothing is read. False: not all of it yet, for want of slots; then the
  // same again. A block of which anything is missing is a missing one.
  absl::StatusOr<bool> Take(const dataplane::BlockHeader& header,
                            std::span<const std::byte> device);

  // There is no block behind those taken. False: not all is given yet; then the same again.
  bool End(const absl::Status& status);

 private:
  struct Piece {
    GpuRing::Loan loan;
    size_t taken = 0;                       // before the transforms
    size_t payload = 0;                     // after them; 0: of a missing block
    std::optional<dataplane::Block> block;  // that ends with it
  };

  bool TakeSlots(int64_t capture_ns);
  // The transforms of what there is. `end`: with it the block ends.
  absl::Status Send(bool end);
  absl::StatusOr<size_t> Enqueue(const Piece& piece);
  dataplane::Block EndBlock();
  // Of the oldest one under way.
  void Complete(const absl::Status& status);
  void Give(dataplane::Block block);

  const SecondOutputPlan plan_;
  std::shared_ptr<services::TaskQueue> tasks_;
  std::function<void()> on_done_;
  size_t taken_ = 0;                       // of the pipeline's block
  std::optional<dataplane::Block> block_;  // being filled
  size_t filled_ = 0;                      // of it, by pieces sent
  std::optional<Piece> piece_;             // being filled
  std::deque<Piece> underway_;             // the device has them until their turn comes
  uint32_t crc_ = 0;                       // of the pieces of a block that are done
  uint64_t next_sequence_ = 0;
  absl::Status status_;  // of the first piece that failed: no block is given behind it
};

// The second output of a recording as a Source: what its session sends. Lives on its session's
// executor. Blocks come in order. Once it is gone, so is the second output,
// and the pipeline goes on without.
class SecondOutputSource final : public dataplane::Source {
 public:
  // The second output has the other end: either may go first.
  explicit SecondOutputSource(std::shared_ptr<Outlet> outlet) : outlet_(std::move(outlet)) {}
  ~SecondOutputSource() override { outlet_->Close(); }

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
