#include "gpu_worker/api/slots/play_slots.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/api/slots/slot_control.h"

namespace tapedeck::gpu_worker::api {

using dataplane::Block;
using device::StreamHandle;
using Until = device::StreamOrder::Until;

namespace {

constexpr uint64_t kFull = 1;

BlockInfo InfoOf(const Block& block) {
  const dataplane::BlockHeader& header = block.header();
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  return {.state = missing ? BlockInfo::kMissing : BlockInfo::kBlock,
          .number = header.sequence,
          .sample_index = header.sample_index,
          .capture_ns = header.capture_ns,
          .bytes = missing ? 0 : header.payload_bytes};
}

}  // namespace

absl::StatusOr<std::shared_ptr<PlaySlots>> PlaySlots::Create(device::Device& device, size_t slots,
                                                             size_t block_bytes) {
  std::shared_ptr<PlaySlots> made(new PlaySlots(device, block_bytes, slots));
  TD_ASSIGN_OR_RETURN(made->control_, SlotControl::Create(device, slots));
  absl::MutexLock lock(&made->program_);
  // While a stream captures, a device may give no memory.
  if (!device.info().works_in_host_memory) TD_RETURN_IF_ERROR(made->MakeBeside());
  return made;
}

PlaySlots::PlaySlots(device::Device& device, size_t block_bytes, size_t slots)
    : device_(device), block_bytes_(block_bytes), uses_(slots), held_(slots) {}

// A block arrives wherever its session has room; what a stream is told of lies where it was told.
absl::Status PlaySlots::MakeBeside() {
  if (beside_ != nullptr) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(beside_, device_.NewDeviceMemory(slots() * block_bytes_));
  return absl::OkStatus();
}

std::byte* PlaySlots::DeviceSlot(size_t slot) const {
  return beside_->window().bytes.subspan(slot * block_bytes_).data();
}

absl::StatusOr<Slot> PlaySlots::Next(StreamHandle stream) {
  absl::MutexLock lock(&program_);
  return Enqueue(stream);
}

absl::StatusOr<Slot> PlaySlots::Enqueue(StreamHandle stream) {
  TD_ASSIGN_OR_RETURN(const device::Capture capture, control_->order().Check(stream));
  TD_RETURN_IF_ERROR(graph_.Check(capture, next_, slots()));
  if (capture.captures) graph_slots_ = next_ + 1;
  const size_t slot = next_ % slots();
  if (uses_[slot].taken) {
    return Refused(absl::StrCat("all ", slots(), " slots are taken, and that of block ",
                                uses_[slot].number, " was not released yet"));
  }
  TD_RETURN_IF_ERROR(MakeBeside());
  if (!capture.captures) TD_RETURN_IF_ERROR(control_->AwaitMark(stream, slot));
  SlotLine& line = control_->line(slot);
  TD_RETURN_IF_ERROR(control_->order().AwaitFlag(stream, &line.flag, Until::kNotZero));
  TD_RETURN_IF_ERROR(
      control_->order().CopyByOrder(stream, DeviceSlot(slot), &line.order, block_bytes_));
  uses_[slot] = {.number = next_, .taken = true, .on_stream = true};
  if (!capture.captures) {
    ++asked_;
    TD_RETURN_IF_ERROR(control_->SetMark(stream, slot));
  }
  return Slot{
      .data = DeviceSlot(slot), .bytes = block_bytes_, .number = next_++, .info = &line.info};
}

absl::Status PlaySlots::CheckRelease(const Slot& slot) const {
  const Use& use = uses_[slot.number % slots()];
  if (use.taken && use.number == slot.number) return absl::OkStatus();
  return Refused(absl::StrCat("block ", slot.number,
                              slot.number < next_ ? " was released already" : " was not taken"));
}

absl::Status PlaySlots::Release(StreamHandle stream, const Slot& slot) {
  absl::MutexLock lock(&program_);
  TD_RETURN_IF_ERROR(CheckRelease(slot));
  TD_ASSIGN_OR_RETURN(const device::Capture capture, control_->order().Check(stream));
  if (capture.captures != (graph_.any())) {
    return Refused("a graph releases the slots that it takes, and no others");
  }
  const size_t index = slot.number % slots();
  if (!capture.captures) TD_RETURN_IF_ERROR(control_->AwaitMark(stream, index));
  TD_RETURN_IF_ERROR(control_->order().SetFlag(stream, &control_->line(index).flag, 0));
  uses_[index].taken = false;
  if (!capture.captures) return control_->SetMark(stream, index);
  ++graph_releases_;
  return absl::OkStatus();
}

// Whether the slot's last block has gone, and the next one has come.
bool PlaySlots::NextIsThere() const {
  const bool gone = next_ < slots() || released_ > next_ - slots();
  return (gone || (ended_ && released_ == put_)) && control_->Flag(next_ % slots()) != 0;
}

absl::StatusOr<Slot> PlaySlots::NextNow(dataplane::Deadline deadline) {
  dataplane::MayWait("a block");
  absl::StatusOr<Slot> slot = absl::DeadlineExceededError(
      "no block has come: the storage node sends more slowly than the program plays");
  while (true) {
    {
      absl::MutexLock lock(&program_);
      if (graph_.any()) return Refused("a graph has this player's slots");
      if (uses_[next_ % slots()].taken) return Enqueue(control_->stream());  // which refuses
      if (NextIsThere()) {
        slot = TakeNow();
        break;
      }
    }
    if (deadline.passed()) return slot;
    absl::SleepFor(kLookEvery);
  }
  if (!slot.ok() || slot->data == nullptr || device_.info().works_in_host_memory) return slot;
  TD_RETURN_IF_ERROR(control_->AwaitStreamsOf(slot->number % slots(), deadline));
  return slot;
}

// Where the device works in host memory the block is used where it arrived.
absl::StatusOr<Slot> PlaySlots::TakeNow() {
  const size_t index = next_ % slots();
  SlotLine& line = control_->line(index);
  if (line.info.state == BlockInfo::kFailed) return status();
  if (line.info.state == BlockInfo::kEnd) return Slot{.number = next_, .info = &line.info};
  Slot slot{.bytes = line.info.bytes, .number = next_, .info = &line.info};
  if (device_.info().works_in_host_memory) {
    slot.data = const_cast<std::byte*>(line.order.from);
  } else {
    TD_RETURN_IF_ERROR(BeginCopy(index));
    slot.data = DeviceSlot(index);
  }
  uses_[index] = {.number = next_++, .taken = true};
  ++asked_;
  return slot;
}

absl::Status PlaySlots::BeginCopy(size_t slot) {
  TD_RETURN_IF_ERROR(MakeBeside());
  SlotLine& line = control_->line(slot);
  TD_RETURN_IF_ERROR(control_->AwaitMark(control_->stream(), slot));
  TD_RETURN_IF_ERROR(control_->order().CopyByOrder(control_->stream(), DeviceSlot(slot),
                                                   &line.order, block_bytes_));
  return control_->SetMark(control_->stream(), slot);
}

absl::Status PlaySlots::ReleaseNow(const Slot& slot) {
  absl::MutexLock lock(&program_);
  TD_RETURN_IF_ERROR(CheckRelease(slot));
  Use& use = uses_[slot.number % slots()];
  if (use.on_stream) return Refused("a slot that a stream has taken is released on a stream");
  use.taken = false;
  control_->SetFlag(slot.number % slots(), 0);
  return absl::OkStatus();
}

bool PlaySlots::Put(Block* block) {
  absl::MutexLock lock(&mutex_);
  const size_t slot = put_ % slots();
  if (ended_ || !held_[slot].empty() || control_->Flag(slot) != 0) return false;
  SlotLine& line = control_->line(slot);
  line.info = InfoOf(*block);
  line.order = {.from = line.info.bytes == 0 ? nullptr : block->memory().data(),
                .bytes = line.info.bytes};
  held_[slot] = std::move(*block);
  ++put_;
  control_->SetFlag(slot, kFull);
  return true;
}

void PlaySlots::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void PlaySlots::NoMore(const absl::Status& cause) {
  absl::MutexLock lock(&mutex_);
  if (ended_) return;
  status_ = cause;
  ended_ = true;
}

// Its sink may have told of the end already, and then only the first cause counts.
void PlaySlots::End(const absl::Status& status) {
  NoMore(status);
  absl::MutexLock lock(&mutex_);
  waker_ = nullptr;
  if (status_.ok()) status_ = status;
  if (!status_.ok()) std::atomic_ref(*control_->failed()).store(1, std::memory_order_release);
}

absl::Status PlaySlots::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

bool PlaySlots::Look() {
  std::vector<Block> gone;  // their owner's waker is called outside the lock
  absl::MutexLock lock(&mutex_);
  while (released_ < put_) {
    const size_t slot = released_ % slots();
    if (control_->Flag(slot) != 0) break;
    gone.push_back(std::move(held_[slot]));
    ++released_;
  }
  if (graph_.any() && (!gone.empty() || SomeWereReleased())) CheckRound();
  const bool ends = ended_ && PutEnds();
  if (!gone.empty() && waker_) waker_();
  return !gone.empty() || ends;
}

bool PlaySlots::SomeWereReleased() const {
  for (size_t slot = 0; slot < slots(); ++slot) {
    if (!held_[slot].empty() && control_->Flag(slot) == 0) return true;
  }
  return false;
}

void PlaySlots::CheckRound() {
  if (ended_ || (graph_slots_ == slots() && graph_releases_ == slots())) return;
  status_ =
      Refused(absl::StrCat("a graph takes ", graph_slots_.load(), " slots and releases ",
                           graph_releases_.load(), ", and the player has ", slots(),
                           "; open the player with as many as the graph takes, and release each"));
  ended_ = true;
}

bool PlaySlots::PutEnds() {
  bool moved = false;
  for (size_t slot = 0; slot < slots(); ++slot) {
    if (!held_[slot].empty() || control_->Flag(slot) != 0) continue;
    SlotLine& line = control_->line(slot);
    line.info = {.state = status_.ok() ? BlockInfo::kEnd : BlockInfo::kFailed, .number = put_};
    line.order = {};
    control_->SetFlag(slot, kFull);
    moved = true;
  }
  return moved;
}

}  // namespace tapedeck::gpu_worker::api
