#include "gpu_worker/api/slots/slot_control.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::api {

absl::StatusOr<std::unique_ptr<SlotControl>> SlotControl::Create(device::Device& device,
                                                                 size_t slots) {
  std::unique_ptr<SlotControl> control(new SlotControl());
  TD_ASSIGN_OR_RETURN(control->order_, device.NewStreamOrder(slots));
  TD_ASSIGN_OR_RETURN(control->memory_, control->order_->NewFlags((slots + 1) * sizeof(SlotLine)));
  const std::span<std::byte> bytes = control->memory_->window().bytes;
  std::memset(bytes.data(), 0, bytes.size());
  control->lines_ = reinterpret_cast<SlotLine*>(bytes.data());
  control->own_ = reinterpret_cast<ControlLine*>(&control->lines_[slots]);
  for (size_t slot = 0; slot < slots; ++slot) {
    TD_ASSIGN_OR_RETURN(auto mark, control->order_->NewMark());
    control->marks_.push_back({.mark = std::move(mark)});
  }
  TD_ASSIGN_OR_RETURN(control->stream_, control->order_->NewStream());
  return control;
}

SlotControl::~SlotControl() {
  if (stream_ != nullptr) order_->DeleteStream(stream_);
}

absl::Status SlotControl::SetMark(device::StreamHandle stream, size_t slot) {
  TD_RETURN_IF_ERROR(order_->SetMark(stream, *marks_[slot].mark));
  marks_[slot].set = true;
  return absl::OkStatus();
}

absl::Status SlotControl::AwaitMark(device::StreamHandle stream, size_t slot) {
  if (!marks_[slot].set) return absl::OkStatus();
  return order_->AwaitMark(stream, *marks_[slot].mark);
}

absl::Status SlotControl::AwaitStreams(dataplane::Deadline deadline) {
  for (size_t slot = 0; slot < slots(); ++slot) TD_RETURN_IF_ERROR(AwaitStreamsOf(slot, deadline));
  return absl::OkStatus();
}

absl::Status SlotControl::AwaitStreamsOf(size_t slot, dataplane::Deadline deadline) {
  dataplane::MayWait("streams of the program");
  while (marks_[slot].set) {
    TD_ASSIGN_OR_RETURN(const bool passed, order_->Passed(*marks_[slot].mark));
    if (passed) break;
    if (deadline.passed()) {
      return absl::DeadlineExceededError(
          "a stream of the program has not finished its work on this ring's slots");
    }
    absl::SleepFor(kLookEvery);
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker::api
