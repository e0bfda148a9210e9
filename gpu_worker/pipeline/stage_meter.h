// How long a pipeline's stages take: on its work thread, and on its device where that works beside
// the thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "dataplane/clock.h"
#include "gpu_worker/device/device.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::gpu_worker::pipeline {

enum class Part : uint8_t { kSource, kGpu, kCopy, kCrc, kSink };
inline constexpr size_t kParts = 5;

// Used by the work thread; Times by any. Pipelines run on threads, so their time is the system's.
class StageMeter {
 public:
  // `beside`: the device works while the thread goes on.
  explicit StageMeter(bool beside) : beside_(beside) {}

  // The thread begins a part, and ends it.
  void Begin() { begun_ns_ = clock_.NowNs(); }
  void End(Part part) {
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
  void Mark(device::Queue& queue, Part part);

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

  static std::atomic<int64_t>& Sum(Sums& sums, Part part) {
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

}  // namespace tapedeck::gpu_worker::pipeline
