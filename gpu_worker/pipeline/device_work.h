// What a pipeline does on its device: the slots it works in, the transforms and the queue they are
// enqueued on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/gpu_ring.h"
#include "gpu_worker/stages/kind.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::gpu_worker::pipeline {

enum class StageStep : uint8_t { kSource, kGpu, kCopy, kCrc, kSink };
inline constexpr size_t kParts = 5;

// How long a pipeline's stages take: on its work thread, and on its device where that works beside
// the thread. Used by the work thread; Times by any. Pipelines run on threads, so their time is the
// system's.
class StageMeter {
 public:
  // `beside`: the device works while the thread goes on.
  explicit StageMeter(bool beside) : beside_(beside) {}

  // The thread begins a part, and ends it.
  void Begin() { begun_ns_ = clock_.NowNs(); }
  void End(StageStep part) {
    const int64_t now_ns = clock_.NowNs();
    Sum(thread_, part).fetch_add(now_ns - begun_ns_, std::memory_order_relaxed);
    begun_ns_ = now_ns;
  }

  // Blocks that the device has; it counts as busy while there are some.
  void OnDevice(size_t blocks);

  // Looks at how long each part of the next block takes on the device, of one block in
  // kSampleEvery: it costs a callback for each part.
  void Sample(device::Queue& queue, uint64_t sequence);
  // What was enqueued since the last mark of that block is of this part.
  void Mark(device::Queue& queue, StageStep part);

  services::StageTimes Times() const;

 private:
  static constexpr uint64_t kSampleEvery = 64;
  using Sums = std::array<std::atomic<int64_t>, kParts>;

  // Shared with the callbacks of one sampled block, which come one after the other.
  struct Seen {
    std::atomic<int64_t> last_ns = 0;
  };

  // So much more that the device was busy, by how long each part takes it.
  void Divide(int64_t busy_ns);

  static std::atomic<int64_t>& Sum(Sums& sums, StageStep part) {
    return sums[static_cast<size_t>(part)];
  }

  const bool beside_;
  const dataplane::SystemClock clock_;
  int64_t begun_ns_ = 0;
  size_t on_device_ = 0;
  int64_t device_since_ns_ = 0;
  Sums thread_ = {};
  int64_t undivided_ns_ = 0;  // the device was busy before any block was looked at
  Sums device_ = {};
  Sums sampled_ = {};           // on the device, of the blocks that were looked at
  std::shared_ptr<Seen> seen_;  // null: the block is not looked at
};

struct DeviceWorkSettings {
  size_t block_bytes = 0;                                    // of the network's blocks
  std::span<const stages::ChosenTransform> transforms = {};  // of this order; for Create alone
  std::span<const uint64_t> sizes = {};                      // of a Chain of them; for Create alone
  bool from_network = false;  // the network's blocks are what the first of them takes
  bool direct = false;        // the job's ring lies in memory of the device
  // Up to so many blocks are worked on at a time; transforms are in place then, and what is played
  // is not direct.
  size_t at_once = 1;
  // Another one's, which goes before this work does; null: it has its own.
  device::Queue* queue = nullptr;
};

// Owned by a pipeline, used by its work thread. Destroying it waits for the device.
class DeviceWork {
 public:
  // Errors are those of the transforms and of the device.
  static absl::StatusOr<std::unique_ptr<DeviceWork>> Create(device::Device& device,
                                                            const DeviceWorkSettings& settings);

  device::Queue& queue() { return *queue_; }
  bool direct() const { return direct_; }
  StageMeter& meter() { return meter_; }
  size_t at_once() const { return at_once_; }
  std::optional<GpuRing::Loan> Lend(std::span<std::byte> memory, size_t times = 1) {
    return ring_->Lend(memory, times);
  }

  // Enqueues the transforms of a payload, which is grown to whole granules with zeros, and returns
  // the size of what comes out. It starts on the stage's sides of the loan and ends on the
  // network's, or the other way round: on the host, from where it is copied to the device first, if
  // `from_host`; it is copied to the host at last if `to_host`. The device makes a block's CRC
  // where it is made or has come to: what is recorded, before that is copied to the host; what came
  // from the network to the host, once it has been copied from there.
  absl::StatusOr<size_t> Enqueue(const GpuRing::Loan& loan, size_t payload_bytes, bool from_host,
                                 bool to_host);

  // The same for several played blocks of full size, at most `at_once`, wherever in host memory
  // they are: they lie side by side in the loan, and each comes back to where it was.
  absl::Status EnqueueTogether(const GpuRing::Loan& loan, std::span<const dataplane::Block> blocks,
                               bool to_host);

  // DATA_LOSS (BLOCK_DAMAGED) if the payload of a played block, one of those that were enqueued
  // together, did not reach the device as `header` has it; after a later Then.
  absl::Status CheckCopied(const GpuRing::Loan& loan, size_t block,
                           const dataplane::BlockHeader& header) const;

  // Which samples of a recorded block trigger, counted from its first one; once for each that was
  // enqueued, in their order, after a later Then has run.
  std::optional<dataplane::Triggers> Find(uint64_t first_sample);

  // The CRC of a recorded block, one of those that were enqueued together, after a later Then:
  // whatever is damaged on the way to the host, the receiver finds.
  uint32_t CrcOf(const GpuRing::Loan& loan, size_t block, size_t payload_bytes) const;

 private:
  struct Step {
    std::unique_ptr<stages::Transform> transform;
    bool in_place = true;
    uint64_t samples_for_one = 1;  // so many of what it takes become one of the last step
    uint64_t bytes_in = 0;         // of a whole block
    uint64_t bytes_out = 0;
  };

  DeviceWork(const DeviceWorkSettings& settings, bool beside, std::unique_ptr<GpuRing> ring,
             std::unique_ptr<device::Queue> own_queue)
      : direct_(settings.direct),
        at_once_(settings.at_once),
        block_bytes_(settings.block_bytes),
        from_network_(settings.from_network),
        meter_(beside),
        ring_(std::move(ring)),
        queue_(own_queue == nullptr ? settings.queue : own_queue.get()),
        own_queue_(std::move(own_queue)) {}

  absl::Status MakeSteps(device::Device& device, const DeviceWorkSettings& settings);
  absl::Status MakeScratch(device::Device& device);
  // What comes out of them, at the beginning of `last` unless all are in place.
  absl::StatusOr<std::span<std::byte>> Transform(std::span<std::byte> payload,
                                                 std::span<std::byte> last);

  const bool direct_;
  const size_t at_once_;
  const size_t block_bytes_;
  const bool from_network_;
  StageMeter meter_;
  const std::unique_ptr<GpuRing> ring_;
  std::vector<Step> steps_;
  size_t moves_ = 0;          // steps that are not in place
  size_t granule_bytes_ = 1;  // of what the first step takes, for all of them
  // Between two steps that are not in place, in turn. The queue's order keeps blocks apart.
  std::vector<std::unique_ptr<dataplane::Memory>> scratch_;
  device::Queue* const queue_;
  // Goes first: it waits for work on the others. Null: the queue is another one's.
  const std::unique_ptr<device::Queue> own_queue_;
};

}  // namespace tapedeck::gpu_worker::pipeline
