// What the proxy does with the slots of a recorder, and what a lost session does.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/api/slots/record_slots.h"
#include "gpu_worker/api/slots/slot_control.h"

namespace tapedeck::gpu_worker::api {

using dataplane::Block;

void RecordSlots::Fail(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (failed_) return;
    status_ = status;
    failed_ = true;
  }
  if (!status.ok()) std::atomic_ref(*control_->failed()).store(1, std::memory_order_release);
  EndChannel(status.ok() ? EPIPE : ECONNRESET);
}

absl::Status RecordSlots::status() const {
  if (!failed_) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return status_.ok() ? Refused("the recording has ended") : status_;
}

bool RecordSlots::expects() const { return ShowsInFlagsOnly() || failed_ || asked_ > back_; }

bool RecordSlots::Look() {
  bool moved = TakeBack();
  if (failed_) return FreeAll() || moved;
  while (true) {
    const size_t slot = given_ % round_;
    const uint64_t flag = control_->Flag(slot);
    if (flag == 0 || free_[slot].empty()) break;
    if (graph_.any() && !GraphIsWhole()) return true;
    Give(slot, std::min<uint64_t>(flag, FlagOf(shape_.block_bytes)) - 1);
    moved = true;
  }
  if (moved) return true;
  if (kernels_) hole_ = HasHole();
  ++idle_looks_;
  return false;
}

bool RecordSlots::GraphIsWhole() {
  if (graph_sends_ == round_) return true;
  const absl::Status refused =
      Refused(absl::StrCat("a graph sends ", graph_sends_.load(), " of the ", round_.load(),
                           " slots that it acquires: it has to send each"));
  outlet_.End(refused);
  Fail(refused);
  return false;
}

// A slot is free again once the network has let go of it.
bool RecordSlots::TakeBack() {
  if (!returned_.exchange(false)) return false;
  bool moved = false;
  while (std::optional<Block> block = ring_->Take()) {
    const size_t slot = block->slot();
    free_[slot] = *std::move(block);
    control_->SetFlag(slot, 0);
    ++back_;
    moved = true;
  }
  return moved;
}

// Streams that go on after the end find every slot free; what they send goes nowhere.
bool RecordSlots::FreeAll() {
  bool moved = false;
  for (size_t slot = 0; slot < slots(); ++slot) {
    if (control_->Flag(slot) == 0) continue;
    control_->SetFlag(slot, 0);
    moved = true;
  }
  return moved;
}

void RecordSlots::Give(size_t slot, uint64_t bytes) {
  Block block = std::move(free_[slot]);
  const uint64_t number = given_.load();
  dataplane::BlockHeader& header = block.header();
  header.sequence = number;
  header.sample_index = number * (shape_.block_bytes / shape_.sample_bytes);
  header.capture_ns = clock_.WallNs();
  header.payload_bytes = static_cast<uint32_t>(bytes);
  header.flags = bytes < shape_.block_bytes ? uint32_t{dataplane::kBlockPartial} : 0;
  header.crc32c = control_->line(slot).crc;
  given_ = number + 1;
  outlet_.Give(std::move(block));
}

}  // namespace tapedeck::gpu_worker::api
