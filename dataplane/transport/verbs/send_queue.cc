#include "dataplane/transport/verbs/send_queue.h"

#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

// Requests for one queue pair, linked, to be posted at once.
class SendQueue::Chain {
 public:
  Chain(SendQueue& owner, QueueKind queue) : owner_(owner), queue_(queue) {}

  // Two more, for an operation.
  bool HasRoom() const { return used_ + 2 <= kPostBatch; }

  ibv_send_wr& Add(ibv_wr_opcode opcode, const ibv_sge& piece, const Posted& posted) {
    Lane& lane = owner_.lane(queue_);
    const uint32_t index = lane.completed + static_cast<uint32_t>(lane.posted.size());
    const bool signalled = posted.completes || ++lane.unsignalled >= kSignalEvery;
    if (signalled) lane.unsignalled = 0;
    lane.posted.push_back(posted);
    pieces_[used_] = piece;
    requests_[used_] = {.wr_id = owner_.queues_.NewWork(WorkKind::kSend, queue_, index).Pack(),
                        .sg_list = &pieces_[used_],
                        .num_sge = 1,
                        .opcode = opcode,
                        .send_flags = signalled ? unsigned{IBV_SEND_SIGNALED} : 0};
    if (used_ > 0) requests_[used_ - 1].next = &requests_[used_];
    return requests_[used_++];
  }

  absl::Status Post() {
    return used_ == 0 ? absl::OkStatus() : owner_.queues_.Send(queue_, requests_.data());
  }

 private:
  SendQueue& owner_;
  const QueueKind queue_;
  size_t used_ = 0;
  std::array<ibv_send_wr, kPostBatch> requests_;
  std::array<ibv_sge, kPostBatch> pieces_;
};

bool SendQueue::HasRoom(const Operation& operation) const {
  if (lane(QueueKind::kControl).posted.size() + 2 > kControlSends) return false;
  if (operation.kind == Operation::Kind::kRead) return true;
  return credits_.MaySendFrame() && lane(QueueKind::kPayload).posted.size() < kPayloadSends;
}

absl::Status SendQueue::Flush() {
  while (true) {
    Chain control(*this, QueueKind::kControl);
    Chain payload(*this, QueueKind::kPayload);
    while (!waiting_.empty() && control.HasRoom() && HasRoom(waiting_.front())) {
      Add(waiting_.front(), control, payload);
      waiting_.pop_front();
    }
    if (credits_.MustTell() && credits_.MaySendWord() && control.HasRoom() &&
        lane(QueueKind::kControl).posted.size() < kControlSends) {
      AddMessage({.kind = MessageKind::kCredits}, {}, control);
    }
    TD_RETURN_IF_ERROR(payload.Post());
    TD_RETURN_IF_ERROR(control.Post());
    if (waiting_.empty() || !HasRoom(waiting_.front())) return absl::OkStatus();
  }
}

void SendQueue::Add(const Operation& operation, Chain& control, Chain& payload) {
  const Posted last{.work = operation.work, .completes = operation.completes};
  Message message{.kind = MessageKind::kFrame, .frame = operation.frame};
  switch (operation.kind) {
    case Operation::Kind::kFrame:
      return AddMessage(message, last, control);
    case Operation::Kind::kSend:
      message.kind = MessageKind::kPayloadFrame;
      message.payload_bytes = operation.local.length;
      payload.Add(IBV_WR_SEND, operation.local, last);
      return AddMessage(message, {}, control);
    case Operation::Kind::kWrite:
    case Operation::Kind::kRead:
      break;
  }
  // Requests of one queue pair take effect in order: the frame says that the payload is there.
  const bool write = operation.kind == Operation::Kind::kWrite;
  ibv_send_wr& request = control.Add(write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, operation.local,
                                     write ? Posted{} : last);
  request.wr.rdma = {.remote_addr = operation.remote.address, .rkey = operation.remote.key};
  if (write) AddMessage(message, last, control);
}

void SendQueue::AddMessage(const Message& message, const Posted& posted, Chain& control) {
  Message told = message;
  told.credits = credits_.Tell();
  credits_.Sent();
  // Free: no more messages are under way than the queue holds requests.
  const std::span<std::byte> buffer = queues_.send_buffer(next_buffer_++ % kControlSends);
  const size_t bytes = EncodeMessage(told, buffer);
  control.Add(IBV_WR_SEND, queues_.SgeOf(buffer.first(bytes)), posted);
}

void SendQueue::Completed(const WorkId& work, const std::function<void(uint64_t)>& on_completed) {
  Lane& lane = this->lane(work.queue);
  while (!lane.posted.empty() && lane.completed != work.index + 1) {
    const Posted done = lane.posted.front();
    lane.posted.pop_front();
    ++lane.completed;
    if (done.completes) on_completed(done.work);
  }
}

bool SendQueue::SayFarewell() {
  waiting_.clear();
  if (!credits_.MaySendWord()) return false;
  const size_t bytes = EncodeMessage({.kind = MessageKind::kBye, .credits = credits_.Tell()},
                                     queues_.send_buffer(kFarewellSend));
  return queues_.SendAlone(kFarewellSend, bytes, WorkKind::kFarewell).ok();
}

}  // namespace tapedeck::dataplane::verbs
