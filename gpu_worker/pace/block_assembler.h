// Makes of the blocks that come the blocks that a sink gets: the samples that were asked for, in
// whole blocks but for the last, numbered from 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/executor/executor.h"
#include "gpu_worker/pace/plan.h"
#include "services/model/recording/sample_time.h"

namespace tapedeck::gpu_worker::pace {

// A block as it came.
struct Arrived {
  dataplane::BlockHeader header;
  std::span<const std::byte> payload;  // empty if it is missing; may be read until `done`
  int64_t ready_ns = 0;                // when it was there
  dataplane::Task done;                // called once nobody needs it any more
};

// What the sink gets next.
struct Piece {
  dataplane::BlockHeader header;
  std::span<const std::byte> payload;  // empty if it is missing
  uint64_t samples = 0;                // also of one that is missing
  int64_t ready_ns = 0;                // when the last of it was there
  uint64_t turns = 0;                  // of a loop, whole ones with it
};

// What has no samples, or zeros for some.
inline constexpr uint32_t kNotWhole = dataplane::kBlockMissing | dataplane::kBlockDamaged;

// The time of the sample that is so many behind one of the time `capture_ns`.
inline int64_t CaptureAfter(int64_t capture_ns, uint64_t samples, double sample_rate) {
  if (capture_ns == dataplane::kTimeUnknown) return capture_ns;
  return services::model::TimeAfter(capture_ns, samples, sample_rate)
      .value_or(dataplane::kTimeUnknown);
}

// One thread.
class BlockAssembler {
 public:
  virtual ~BlockAssembler() = default;

  // In order. What is not wanted of it is done at once.
  virtual absl::Status Add(Arrived arrived) = 0;
  // No more will come. INVALID_ARGUMENT (ARGUMENT_INVALID) if the samples asked for have not.
  virtual absl::Status End() = 0;
  // It needs no more to come.
  virtual bool sated() const = 0;
  // Of the blocks with samples that were asked for, so many are missing, in part or wholly.
  uint64_t lost() const { return lost_; }

  // The same one until Pop. Null: more must come; after End, or if it is sated: that was all.
  virtual const Piece* Next() = 0;
  virtual void Pop() = 0;

 protected:
  void CountLost(const dataplane::BlockHeader& header) {
    if ((header.flags & kNotWhole) != 0) ++lost_;
  }

 private:
  uint64_t lost_ = 0;
};

// Of the sink that is fed.
struct SinkTraits {
  size_t block_bytes = 0;
  size_t sample_bytes = 0;
  double sample_rate = 0;  // 0: unknown
  bool reads_payload = false;
  bool damaged_blocks = false;  // takes blocks in which zeros stand for what is missing
};

// A loop's memory is taken here: RESOURCE_EXHAUSTED (LIMIT_REACHED) where it cannot be had.
absl::StatusOr<std::unique_ptr<BlockAssembler>> MakeAssembler(const Plan& plan,
                                                              const SinkTraits& sink);

}  // namespace tapedeck::gpu_worker::pace
