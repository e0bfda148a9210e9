#include "gpu_worker/api/slots/record_slots.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/api/slots/slot_control.h"

namespace tapedeck::gpu_worker::api {

using device::StreamHandle;
using Until = device::StreamOrder::Until;

absl::StatusOr<std::shared_ptr<RecordSlots>> RecordSlots::Create(
    device::Device& device, std::shared_ptr<dataplane::SlotPool> ring, const RecordShape& shape,
    const dataplane::Clock& clock) {
  std::shared_ptr<RecordSlots> slots(new RecordSlots(device, std::move(ring), shape, clock));
  TD_RETURN_IF_ERROR(slots->MakeSlots());
  return slots;
}

RecordSlots::RecordSlots(device::Device& device, std::shared_ptr<dataplane::SlotPool> ring,
                         const RecordShape& shape, const dataplane::Clock& clock)
    : device_(device),
      ring_(std::move(ring)),
      shape_(shape),
      clock_(clock),
      uses_(ring_->slots()),
      round_(ring_->slots()),
      free_(ring_->slots()) {}

absl::Status RecordSlots::MakeSlots() {
  const bool apart = ring_->window().host_accessible && !device_.info().works_in_host_memory;
  if (apart) {
    TD_ASSIGN_OR_RETURN(beside_, device_.NewDeviceMemory(ring_->slots() * ring_->slot_bytes()));
  }
  TD_ASSIGN_OR_RETURN(control_, SlotControl::Create(device_, ring_->slots()));
  ring_->SetWaker([this] { returned_ = true; });
  TakeBack();
  back_ = 0;
  return absl::OkStatus();
}

RecordSlots::~RecordSlots() { ring_->SetWaker(nullptr); }

std::span<std::byte> RecordSlots::RingSlot(size_t slot) const {
  return ring_->window().bytes.subspan(slot * ring_->slot_bytes(), ring_->slot_bytes());
}

std::span<std::byte> RecordSlots::DeviceSlot(size_t slot) const {
  if (beside_ == nullptr) return RingSlot(slot);
  return beside_->window().bytes.subspan(slot * ring_->slot_bytes(), ring_->slot_bytes());
}

absl::StatusOr<Slot> RecordSlots::Acquire(StreamHandle stream) {
  absl::MutexLock lock(&program_);
  return Enqueue(stream);
}

absl::StatusOr<Slot> RecordSlots::Enqueue(StreamHandle stream) {
  TD_RETURN_IF_ERROR(status());
  if (closed_ || partial_) return Refused("the recorder was finished");
  if (kernels_) return Refused("kernels have this recorder's slots: open another one beside it");
  TD_ASSIGN_OR_RETURN(const device::Capture capture, control_->order().Check(stream));
  TD_RETURN_IF_ERROR(graph_.Check(capture, next_, slots()));
  if (capture.captures) round_ = next_ + 1;
  const size_t slot = next_ % slots();
  if (uses_[slot].acquired) {
    return Refused(absl::StrCat("all ", slots(), " slots are acquired, and that of block ",
                                uses_[slot].number, " was not sent yet"));
  }
  if (!capture.captures) TD_RETURN_IF_ERROR(control_->AwaitMark(stream, slot));
  TD_RETURN_IF_ERROR(control_->order().AwaitFlag(stream, &control_->line(slot).flag, Until::kZero));
  uses_[slot] = {.number = next_, .acquired = true, .stream = stream};
  if (!capture.captures) TD_RETURN_IF_ERROR(control_->SetMark(stream, slot));
  return Slot{.data = DeviceSlot(slot).data(), .bytes = shape_.block_bytes, .number = next_++};
}

absl::Status RecordSlots::CheckSend(const Slot& slot, size_t bytes) const {
  if (over_) return Refused("the recorder was finished");
  const Use& use = uses_[slot.number % slots()];
  if (!use.acquired || use.number != slot.number) {
    return Refused(absl::StrCat("block ", slot.number,
                                slot.number < next_ ? " was sent already" : " was not acquired"));
  }
  if (bytes == 0 || bytes > shape_.block_bytes || bytes % shape_.sample_bytes != 0) {
    return Refused(absl::StrCat(bytes, " bytes: a slot of this recorder takes 1 to ",
                                shape_.block_bytes, ", in whole samples of ", shape_.sample_bytes));
  }
  const bool last = slot.number + 1 >= highest_sent_;
  if (bytes < shape_.block_bytes && (!last || graph_.any())) {
    return Refused(absl::StrCat(
        bytes, " bytes of ", shape_.block_bytes,
        ": only the last block of a recording may be shorter, and none that a graph sends"));
  }
  if (partial_ && slot.number >= highest_sent_) {
    return Refused("a shorter block has ended the recording");
  }
  return absl::OkStatus();
}

absl::Status RecordSlots::Send(StreamHandle stream, const Slot& slot, size_t bytes) {
  absl::MutexLock lock(&program_);
  TD_RETURN_IF_ERROR(status());
  TD_RETURN_IF_ERROR(CheckSend(slot, bytes));
  TD_ASSIGN_OR_RETURN(const device::Capture capture, control_->order().Check(stream));
  if (capture.captures != (graph_.any())) {
    return Refused("a graph sends the slots that it acquires, and no others");
  }
  const size_t index = slot.number % slots();
  // Another stream has waited for the slot, and this one waits for that.
  if (!capture.captures && uses_[index].stream != stream) {
    TD_RETURN_IF_ERROR(control_->AwaitMark(stream, index));
  }
  TD_RETURN_IF_ERROR(EnqueueSend(stream, index, bytes));
  uses_[index].acquired = false;
  ++sent_;
  highest_sent_ = std::max(highest_sent_, slot.number + 1);
  partial_ |= bytes < shape_.block_bytes;
  if (capture.captures) {
    ++graph_sends_;
    return absl::OkStatus();
  }
  ++asked_;
  return control_->SetMark(stream, index);
}

absl::Status RecordSlots::EnqueueSend(StreamHandle stream, size_t slot, size_t bytes) {
  device::StreamOrder& order = control_->order();
  SlotLine& line = control_->line(slot);
  const std::span<std::byte> payload = DeviceSlot(slot).first(bytes);
  TD_RETURN_IF_ERROR(order.Crc32c(stream, &line.crc, payload, slot));
  if (beside_ != nullptr) {
    TD_RETURN_IF_ERROR(order.CopyToHost(stream, RingSlot(slot).data(), payload.data(), bytes));
  }
  return order.SetFlag(stream, &line.flag, FlagOf(bytes));
}

// Whether the block that had the slot before was given to the session, and has left it.
bool RecordSlots::NextIsFree() const {
  const size_t slot = next_ % slots();
  return (next_ < slots() || given_ > next_ - slots()) && control_->Flag(slot) == 0;
}

absl::StatusOr<Slot> RecordSlots::AcquireNow(dataplane::Deadline deadline) {
  dataplane::MayWait("a free slot");
  while (true) {
    {
      absl::MutexLock lock(&program_);
      TD_RETURN_IF_ERROR(status());
      if (kernels_ || NextIsFree() || uses_[next_ % slots()].acquired)
        return Enqueue(control_->stream());
    }
    if (deadline.passed()) {
      return absl::DeadlineExceededError(
          "no slot is free: the storage node takes blocks more slowly than the program sends them");
    }
    absl::SleepFor(kLookEvery);
  }
}

absl::Status RecordSlots::SendNow(const Slot& slot, size_t bytes) {
  return Send(control_->stream(), slot, bytes);
}

uint64_t RecordSlots::SentInOrder() const {
  uint64_t lowest = next_;
  for (const Use& use : uses_) {
    if (use.acquired) lowest = std::min(lowest, use.number);
  }
  return lowest;
}

absl::Status RecordSlots::CheckWhole() const {
  const uint64_t first = SentInOrder();
  const bool hole = graph_.any() ? first != next_ : highest_sent_ > first;
  if (!hole) return absl::OkStatus();
  return Refused(absl::StrCat("the slot of block ", first,
                              " was acquired and never sent, and later ones were"));
}

// Of what shows only in the flags the proxy has seen all once two looks find nothing.
bool RecordSlots::AwaitGiven(uint64_t blocks, dataplane::Deadline deadline) const {
  dataplane::MayWait("streams of the program");
  const uint64_t looks = idle_looks_ + 2;
  while (given_ < blocks || (ShowsInFlagsOnly() && idle_looks_ < looks)) {
    if (failed_ || deadline.passed()) return false;
    absl::SleepFor(kLookEvery);
  }
  return true;
}

absl::StatusOr<uint64_t> RecordSlots::AwaitSent(dataplane::Deadline deadline) {
  uint64_t all = 0;
  {
    absl::MutexLock lock(&program_);
    TD_RETURN_IF_ERROR(CheckWhole());
    all = ShowsInFlagsOnly() ? 0 : highest_sent_;
  }
  if (AwaitGiven(all, deadline)) return ShowsInFlagsOnly() ? given_.load() : all;
  TD_RETURN_IF_ERROR(status());
  return absl::DeadlineExceededError(
      absl::StrCat("streams of the program have sent ", given_.load(), " of ", all, " blocks"));
}

absl::Status RecordSlots::Close(dataplane::Deadline deadline) {
  {
    absl::MutexLock lock(&program_);
    closed_ = true;
  }
  EndChannel(EPIPE);
  TD_RETURN_IF_ERROR(AwaitSent(deadline).status());
  if (hole_) {
    return Refused(absl::StrCat("a kernel has acquired block ", given_.load(),
                                " and not committed it, and later ones were committed"));
  }
  End();
  return absl::OkStatus();
}

void RecordSlots::CloseWith(dataplane::Deadline deadline) {
  uint64_t in_order = 0;
  {
    absl::MutexLock lock(&program_);
    closed_ = true;
    in_order = ShowsInFlagsOnly() ? 0 : SentInOrder();
  }
  EndChannel(EPIPE);
  AwaitGiven(in_order, deadline);
  End();
}

void RecordSlots::End() {
  absl::MutexLock lock(&program_);
  over_ = true;
  outlet_.End(absl::OkStatus());
}

}  // namespace tapedeck::gpu_worker::api
