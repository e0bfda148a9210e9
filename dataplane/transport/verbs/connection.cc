#include "dataplane/transport/verbs/connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

VerbsConnection::VerbsConnection(const Rail& rail, const Registration& registration,
                                 std::unique_ptr<QueuePairs> queues, std::string name,
                                 ConnectionEvents* events)
    : rail_(rail),
      registration_(registration),
      name_(std::move(name)),
      events_(events),
      queues_(std::move(queues)),
      sends_(*queues_, credits_),
      receives_(*queues_, credits_) {
  subscription_ = rail_.port->Subscribe(
      queues_->numbers(),
      lifetime_.Guard([this](const absl::Status& cause) { Fail(cause, false); }));
  queues_->completions().Start(
      kPollBatch, lifetime_.Guard([this](const ibv_wc& completion) { OnCompletion(completion); }));
}

VerbsConnection::~VerbsConnection() {
  if (state_ != State::kClosed) EndAbruptly();
  rail_.port->Unsubscribe(subscription_);
}

void VerbsConnection::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  const bool bare = payload.empty();
  Push({.kind = bare ? Operation::Kind::kFrame : Operation::Kind::kSend,
        .frame = frame,
        .work = work,
        .completes = !bare},
       payload);
}

void VerbsConnection::Write(const Frame& frame, std::span<const std::byte> payload,
                            RemoteSlice target, uint64_t work) {
  Push({.kind = payload.empty() ? Operation::Kind::kFrame : Operation::Kind::kWrite,
        .frame = frame,
        .remote = target,
        .work = work,
        .completes = true},
       payload);
}

void VerbsConnection::Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) {
  Push({.kind = Operation::Kind::kRead, .remote = origin, .work = work, .completes = true}, into);
}

void VerbsConnection::Push(Operation operation, std::span<const std::byte> local) {
  if (state_ != State::kOpen) return;
  if (sends_.waiting() >= kMaxWaiting) {
    return Fail(absl::ResourceExhaustedError(
                    absl::StrCat("the peer has given no credit for ", kMaxWaiting, " operations")),
                true);
  }
  if (!local.empty()) {
    const std::optional<ibv_sge> piece = registration_.Local(local);
    if (!piece.has_value() || local.size() > rail_.port->max_message_bytes()) {
      return Fail(absl::InvalidArgumentError(absl::StrCat(
                      local.size(), " bytes are not in the registered window, or more than the ",
                      rail_.port->max_message_bytes(), " bytes that the port takes at once")),
                  true);
    }
    operation.local = *piece;
  }
  sends_.Push(operation);
  ScheduleFlush();
}

void VerbsConnection::PostReceive(std::span<std::byte> buffer) {
  if (state_ != State::kOpen) return;
  const std::optional<ibv_sge> piece = registration_.Local(buffer);
  if (!piece.has_value()) {
    return Fail(absl::InvalidArgumentError("a receive buffer is not in the registered window"),
                true);
  }
  receives_.Push(buffer, *piece);
  ScheduleFlush();
}

void VerbsConnection::ScheduleFlush() {
  if (std::exchange(flush_due_, true)) return;
  rail_.poller->AtEndOfTurn(lifetime_.Guard([this] { Flush(); }));
}

void VerbsConnection::Flush() {
  flush_due_ = false;
  if (state_ != State::kOpen) return;
  // Receives first: a frame may tell the peer of them.
  absl::Status status = receives_.Flush();
  if (status.ok()) status = sends_.Flush();
  if (!status.ok()) Fail(status, false);
}

void VerbsConnection::OnCompletion(const ibv_wc& completion) {
  const WorkId work = WorkId::Unpack(completion.wr_id);
  if (!queues_->IsCurrent(work)) return;
  queues_->Count(work);
  if (state_ == State::kDraining) {
    if (queues_->drained()) OnDrained();
    return;
  }
  if (state_ == State::kFarewell) {
    if (work.kind == WorkKind::kFarewell || completion.status != IBV_WC_SUCCESS) Drain();
    return;
  }
  if (completion.status == IBV_WC_WR_FLUSH_ERR) {
    // Nothing of this end has failed: its port refused what the peer asked for.
    return Fail(PeerBrokeIn(), false);
  }
  const bool failed = completion.status != IBV_WC_SUCCESS;
  const absl::Status status = failed ? CompletionFailed(completion.status, completion.vendor_err)
                                     : OnSucceeded(work, completion.byte_len);
  // With the control queue pair intact the peer can be told.
  const bool intact = !failed || work.queue == QueueKind::kPayload;
  if (!status.ok()) return Fail(status, intact && !receives_.peer_closed());
  Deliver();
  if (sends_.Waits() || receives_.Waits()) ScheduleFlush();
}

absl::Status VerbsConnection::OnSucceeded(const WorkId& work, size_t bytes) {
  if (work.kind == WorkKind::kHello) return absl::OkStatus();  // a late one of the offer's
  if (work.kind == WorkKind::kSend) {
    sends_.Completed(work, [this](uint64_t done) {
      if (state_ == State::kOpen) events_->OnCompleted(done);
    });
    return absl::OkStatus();
  }
  return work.queue == QueueKind::kControl ? receives_.OnMessage(work.index, bytes)
                                           : receives_.OnPayload(bytes);
}

void VerbsConnection::Deliver() {
  while (state_ == State::kOpen) {
    const absl::StatusOr<std::optional<Arrival>> next = receives_.Next();
    if (!next.ok()) return Fail(next.status(), true);
    if (!next->has_value()) return;
    events_->OnFrame((*next)->frame, (*next)->payload);
  }
}

void VerbsConnection::Fail(const absl::Status& cause, bool farewell) {
  End(Prefixed(name_, cause), farewell);
}

void VerbsConnection::End(const absl::Status& cause, bool farewell) {
  if (state_ != State::kOpen) return;
  cause_ = cause;
  state_ = State::kFarewell;
  if (!farewell || !sends_.SayFarewell()) return Drain();
  rail_.poller->PostAfter(kFarewellNs, lifetime_.Guard([this] { Drain(); }));
}

void VerbsConnection::Drain() {
  if (state_ != State::kFarewell) return;
  state_ = State::kDraining;
  queues_->Fail();
  if (queues_->drained()) return OnDrained();
  rail_.poller->PostAfter(kDrainNs, lifetime_.Guard([this] {
    if (state_ != State::kDraining) return;
    Log(LogLevel::kWarning, "transport/verbs", "a queue pair did not return its requests in 1 s",
        {{"connection", name_}});
    OnDrained();
  }));
}

// Posted: this may be inside a callback of what it destroys.
void VerbsConnection::OnDrained() {
  state_ = State::kClosed;
  queues_->completions().Stop();
  rail_.poller->Post(lifetime_.Guard([this] {
    queues_.reset();
    const absl::Status cause = cause_;  // this may be destroyed in the call
    events_->OnClosed(cause);
  }));
}

// Without a turn of the loop: whoever destroys an open connection gives up its memory next.
void VerbsConnection::EndAbruptly() {
  const Clock& clock = rail_.poller->clock();
  queues_->completions().Stop();
  bool farewell = state_ == State::kOpen && sends_.SayFarewell();
  const auto take = [&](const ibv_wc& completion) {
    const WorkId work = WorkId::Unpack(completion.wr_id);
    queues_->Count(work);
    if (work.kind == WorkKind::kFarewell || completion.status != IBV_WC_SUCCESS) farewell = false;
  };
  const int64_t farewell_until_ns = clock.NowNs() + kAbruptFarewellNs;
  while (farewell && clock.NowNs() < farewell_until_ns) queues_->completions().Take(take);
  if (state_ != State::kDraining) queues_->Fail();
  const int64_t drain_until_ns = clock.NowNs() + kAbruptFarewellNs;
  while (!queues_->drained() && clock.NowNs() < drain_until_ns) queues_->completions().Take(take);
}

}  // namespace tapedeck::dataplane::verbs
