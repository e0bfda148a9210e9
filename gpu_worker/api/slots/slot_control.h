// What a program's streams, the proxy and the session tell each other of a ring's slots: a line for
// each, in host memory that the device reads and writes.
//
// A flag has one writer at a time: while it is zero those who fill the slot, else those who empty
// it. Whoever sets it has written everything else of the line and the slot before.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/memory/memory.h"
#include "gpu_worker/api/include/tapedeck/slot.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/stream_order.h"
#include "gpu_worker/sockets/channel.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::api {

// What a program must not do with a slot. INVALID_ARGUMENT (ARGUMENT_INVALID).
inline absl::Status Refused(absl::string_view text) {
  return services::ArgumentInvalid("slot", text);
}

// How often a thread looks that waits for a slot.
inline constexpr absl::Duration kLookEvery = absl::Microseconds(50);

// A recorder's flag.
constexpr uint64_t FlagOf(uint64_t bytes) { return bytes + 1; }

// The words are a recorder's: a player's flag is 0 or 1.
struct alignas(128) SlotLine : sockets::SlotWords {
  device::CopyOrder order;  // where a player's block lies
  BlockInfo info;           // of a player's block
};

// What holds for all slots, behind the slots' lines.
struct alignas(128) ControlLine {
  uint64_t failed;   // for kernels of the program: 0 until the session has failed
  uint32_t channel;  // of sockets::Channel: 0, or the errno for which nothing is recorded any more
};
static_assert(sizeof(ControlLine) == sizeof(SlotLine));

// Owned by the slots of one recorder or player.
class SlotControl {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where the device has no such memory.
  static absl::StatusOr<std::unique_ptr<SlotControl>> Create(device::Device& device, size_t slots);
  ~SlotControl();

  size_t slots() const { return marks_.size(); }
  SlotLine& line(size_t slot) { return lines_[slot]; }
  // The words that kernels read.
  uint64_t* failed() { return &own_->failed; }
  uint32_t* channel() { return &own_->channel; }
  device::StreamOrder& order() { return *order_; }
  // A stream of the library's own.
  device::StreamHandle stream() { return stream_; }

  uint64_t Flag(size_t slot) const {
    return std::atomic_ref(lines_[slot].flag).load(std::memory_order_acquire);
  }
  void SetFlag(size_t slot, uint64_t value) {
    std::atomic_ref(lines_[slot].flag).store(value, std::memory_order_release);
  }

  // The mark of what a stream did last with a slot, while no thread but the caller's uses that.
  absl::Status SetMark(device::StreamHandle stream, size_t slot);
  absl::Status AwaitMark(device::StreamHandle stream, size_t slot);

  // Waits until streams have done all that they were told of the slots, or of one. Launches of
  // graphs are not known here. DEADLINE_EXCEEDED.
  absl::Status AwaitStreams(dataplane::Deadline deadline);
  absl::Status AwaitStreamsOf(size_t slot, dataplane::Deadline deadline);

 private:
  struct SlotMark {
    std::unique_ptr<device::Mark> mark;
    bool set = false;
  };

  SlotControl() = default;

  std::unique_ptr<device::StreamOrder> order_;
  std::unique_ptr<dataplane::Memory> memory_;
  SlotLine* lines_ = nullptr;
  ControlLine* own_ = nullptr;
  std::vector<SlotMark> marks_;
  device::StreamHandle stream_ = nullptr;
};

}  // namespace tapedeck::gpu_worker::api
