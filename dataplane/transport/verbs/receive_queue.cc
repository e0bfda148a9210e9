#include "dataplane/transport/verbs/receive_queue.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

void ReceiveQueue::Push(std::span<std::byte> buffer, const ibv_sge& piece) {
  buffers_.push_back({buffer, piece});
  ++unposted_;
}

absl::Status ReceiveQueue::Flush() {
  TD_RETURN_IF_ERROR(PostBuffers());
  return PostMessages();
}

absl::Status ReceiveQueue::PostBuffers() {
  while (unposted_ > 0 && posted() < kPayloadReceives) {
    std::array<ibv_recv_wr, kPostBatch> receives;
    const size_t n = std::min({kPostBatch, unposted_, kPayloadReceives - posted()});
    for (size_t i = 0; i < n; ++i) {
      receives[i] = {.wr_id = queues_.NewWork(WorkKind::kReceive, QueueKind::kPayload, 0).Pack(),
                     .next = i + 1 < n ? &receives[i + 1] : nullptr,
                     .sg_list = &buffers_[posted() + i].piece,
                     .num_sge = 1};
    }
    TD_RETURN_IF_ERROR(
        queues_.Receive(QueueKind::kPayload, receives.data(), static_cast<uint32_t>(n)));
    unposted_ -= n;
  }
  return absl::OkStatus();
}

absl::Status ReceiveQueue::PostMessages() {
  for (size_t first = 0; first < free_.size(); first += kPostBatch) {
    std::array<ibv_recv_wr, kPostBatch> receives;
    std::array<ibv_sge, kPostBatch> pieces;
    const size_t n = std::min(kPostBatch, free_.size() - first);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t index = free_[first + i];
      pieces[i] = queues_.SgeOf(queues_.receive_buffer(index));
      receives[i] = {
          .wr_id = queues_.NewWork(WorkKind::kReceive, QueueKind::kControl, index).Pack(),
          .next = i + 1 < n ? &receives[i + 1] : nullptr,
          .sg_list = &pieces[i],
          .num_sge = 1};
    }
    TD_RETURN_IF_ERROR(
        queues_.Receive(QueueKind::kControl, receives.data(), static_cast<uint32_t>(n)));
    for (size_t i = 0; i < n; ++i) credits_.Reposted();
  }
  free_.clear();
  return absl::OkStatus();
}

absl::Status ReceiveQueue::OnMessage(uint32_t index, size_t bytes) {
  const std::span<const std::byte> buffer = queues_.receive_buffer(index);
  TD_ASSIGN_OR_RETURN(const Message message, DecodeMessage(buffer.first(bytes)));
  if (!credits_.Heard(message.credits)) {
    return absl::DataLossError(absl::StrCat("the peer claims ", message.credits,
                                            " receives, more than this end has used"));
  }
  switch (message.kind) {
    case MessageKind::kFrame:
    case MessageKind::kPayloadFrame:
      waiting_.push_back({index, message});
      return absl::OkStatus();
    case MessageKind::kCredits:
      free_.push_back(index);
      return absl::OkStatus();
    case MessageKind::kBye:
      peer_closed_ = true;
      return absl::UnavailableError("the peer closed the connection");
    default:
      return absl::DataLossError("the peer said hello twice");
  }
}

absl::Status ReceiveQueue::OnPayload(size_t bytes) {
  if (posted() == 0) return absl::InternalError("received a payload without a buffer");
  filled_.push_back(buffers_.front().bytes.first(bytes));
  buffers_.pop_front();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Arrival>> ReceiveQueue::Next() {
  if (waiting_.empty()) return std::nullopt;
  const Waiting next = waiting_.front();
  Arrival arrival{.frame = next.message.frame};
  if (next.message.kind == MessageKind::kPayloadFrame) {
    if (filled_.empty() && buffers_.empty()) {
      return absl::ResourceExhaustedError("received a payload that no posted receive can hold");
    }
    if (filled_.empty()) return std::nullopt;
    arrival.payload = filled_.front();
    filled_.pop_front();
    if (arrival.payload.size() != next.message.payload_bytes) {
      return absl::DataLossError(absl::StrCat("received a payload of ", arrival.payload.size(),
                                              " bytes, announced as ", next.message.payload_bytes));
    }
  }
  waiting_.pop_front();
  free_.push_back(next.index);
  return arrival;
}

}  // namespace tapedeck::dataplane::verbs
