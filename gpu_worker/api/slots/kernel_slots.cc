// A recorder whose slots kernels acquire and commit by themselves (sockets/channel.h).
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "dataplane/status_macros.h"
#include "gpu_worker/api/slots/record_slots.h"
#include "gpu_worker/api/slots/slot_control.h"
#include "gpu_worker/device/await_queue.h"
#include "gpu_worker/device/crc32c_math.h"

namespace tapedeck::gpu_worker::api {

namespace crc = device::crc;
using dataplane::Memory;
using sockets::Channel;
using sockets::ChannelOwn;

namespace {

// Behind ChannelOwn lies the turn of each slot.
size_t OwnBytes(size_t slots) { return sizeof(ChannelOwn) + slots * sizeof(uint64_t); }

absl::StatusOr<std::unique_ptr<Memory>> NewOwn(device::Device& device, size_t slots) {
  const size_t bytes = OwnBytes(slots);
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Memory> image, device.NewHostMemory(bytes));
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Memory> own, device.NewDeviceMemory(bytes));
  std::byte* const at = image->window().bytes.data();
  std::memset(at, 0, bytes);
  auto* const words = new (at) ChannelOwn{};
  constexpr uint32_t kByLane = crc::Shift(sizeof(uint32_t));
  for (uint32_t entry = 0; entry < 4 * 256; ++entry) {
    words->by_lane.of[entry / 256][entry % 256] = crc::FactorEntry(kByLane, entry);
  }
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<device::Queue> queue, device.NewQueue());
  TD_RETURN_IF_ERROR(queue->CopyToDevice(own->window().bytes.data(), at, bytes));
  TD_RETURN_IF_ERROR(device::AwaitQueue(*queue));
  return own;
}

unsigned char* Plain(std::byte* at) { return reinterpret_cast<unsigned char*>(at); }

}  // namespace

absl::StatusOr<Channel> RecordSlots::GiveToKernels() {
  absl::MutexLock lock(&program_);
  TD_RETURN_IF_ERROR(status());
  if (kernels_ || next_ > 0 || closed_) {
    return Refused(
        "kernels need a recorder that is open and has recorded nothing; open another one");
  }
  TD_ASSIGN_OR_RETURN(channel_, NewOwn(device_, slots()));
  std::byte* const own = channel_->window().bytes.data();
  kernels_ = true;
  return Channel{.words = reinterpret_cast<unsigned char*>(&control_->line(0)),
                 .state = control_->channel(),
                 .own = reinterpret_cast<ChannelOwn*>(own),
                 .turns = reinterpret_cast<uint64_t*>(own + sizeof(ChannelOwn)),
                 .memory = Plain(DeviceSlot(0).data()),
                 .ring = Plain(RingSlot(0).data()),
                 .words_step = sizeof(SlotLine),
                 .slot_bytes = ring_->slot_bytes(),
                 .block_bytes = shape_.block_bytes,
                 .sample_bytes = shape_.sample_bytes,
                 .slots = slots()};
}

void RecordSlots::EndChannel(int error) {
  uint32_t open = 0;
  std::atomic_ref(*control_->channel())
      .compare_exchange_strong(open, static_cast<uint32_t>(error), std::memory_order_release);
}

bool RecordSlots::HasHole() const {
  for (size_t slot = 0; slot < slots(); ++slot) {
    if (control_->Flag(slot) != 0 && !free_[slot].empty()) return true;
  }
  return false;
}

}  // namespace tapedeck::gpu_worker::api
