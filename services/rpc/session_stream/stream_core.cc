#include "services/rpc/session_stream/stream_core.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::session_stream {
namespace {

class Stream final : public session::ControlStream {
 public:
  explicit Stream(std::shared_ptr<StreamCore> core) : core_(std::move(core)) {}
  ~Stream() override { core_->Detach(); }

  void Start(ControlEvents* events, dataplane::Executor* executor) override {
    core_->Start(events, executor);
  }
  void Send(const Message& message) override { core_->Send(message); }
  void Close(const absl::Status& status) override { core_->Close(status); }

 private:
  const std::shared_ptr<StreamCore> core_;
};

}  // namespace

std::unique_ptr<session::ControlStream> MakeControlStream(std::shared_ptr<StreamCore> core) {
  return std::make_unique<Stream>(std::move(core));
}

void StreamCore::Start(ControlEvents* events, dataplane::Executor* executor) {
  absl::MutexLock lock(&mutex_);
  events_ = events;
  executor_ = executor;
  if (ended_) return PostClosed();
  BeginCall();
  if (!reads_ended_) {
    reading_ = true;
    BeginRead();
  }
  Advance();
}

void StreamCore::Send(const Message& message) {
  absl::MutexLock lock(&mutex_);
  if (closing_ || ended_) return;
  if (queue_.size() >= kMaxQueuedMessages) return Overflow();
  queue_.push_back(message);
  Advance();
}

// The peer does not read: an end in order would wait behind what it has not read.
void StreamCore::Overflow() {
  queue_.clear();
  closed_here_ = true;
  CloseLocked(LimitReached(kMaxQueuedMessages, "unread messages",
                           absl::StrCat("the peer of the control stream has not read ",
                                        kMaxQueuedMessages, " messages")));
  if (executor_ != nullptr) Abort();
}

void StreamCore::Close(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (closing_ || ended_) return;
  closed_here_ = true;
  CloseLocked(status);
}

void StreamCore::CloseLocked(const absl::Status& status) {
  closing_ = true;
  close_status_ = status;
  Advance();
}

void StreamCore::Detach() {
  absl::MutexLock lock(&mutex_);
  detached_ = true;
  if (ended_) return;
  queue_.clear();
  // With nobody to take what comes, only an end in order that the peer has matched may go on.
  if (!end_begun_ || !reads_ended_) Abort();
  if (!closing_) CloseLocked(absl::CancelledError("the session left"));
  // A read that is under way comes back, and ends them then.
  if (!reading_) EndReads();
}

// Writes the next message, or begins the end once the last is out.
void StreamCore::Advance() {
  // Before Start there is no call; what was sent waits. One that is detached unstarted must end.
  if (executor_ == nullptr && !detached_) return;
  if (writing_ || end_begun_ || ended_) return;
  if (!queue_.empty()) {
    const absl::Status status = BeginWrite(queue_.front());
    queue_.pop_front();
    if (status.ok()) {
      writing_ = true;
      return;
    }
    queue_.clear();
    closed_here_ = true;
    closing_ = true;
    close_status_ = status;
  }
  if (closing_) {
    end_begun_ = true;
    BeginEnd();
  }
}

void StreamCore::Written(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (!ok) queue_.clear();
  Advance();
}

void StreamCore::Received(absl::StatusOr<Message> message) {
  absl::MutexLock lock(&mutex_);
  reading_ = false;
  if (detached_) return EndReads();
  if (!message.ok()) {
    // A peer that breaks the protocol is told so now, not after what was meant for an honest one.
    queue_.clear();
    if (!closing_) {
      closed_here_ = true;
      CloseLocked(message.status());
    }
    return EndReads();
  }
  const auto* news = std::get_if<session::Progress>(&*message);
  signs_ = 0;
  if (news == nullptr) opening_.reset();
  if (opening_.has_value()) opening_ = *news;
  // The next read waits until the executor has taken this message: a flood stays in the network.
  executor_->Post([self = shared_from_this(), message = *std::move(message)]() mutable {
    self->Deliver(std::move(message));
  });
}

void StreamCore::Deliver(Message message) {
  ControlEvents* const events = LiveEvents();
  if (events == nullptr) return;
  events->OnMessage(std::move(message));
  absl::MutexLock lock(&mutex_);
  if (detached_ || ended_ || reads_ended_) return;
  reading_ = true;
  BeginRead();
}

void StreamCore::Tell(Message message) {
  absl::MutexLock lock(&mutex_);
  if (executor_ == nullptr || detached_ || ended_) return;
  PostMessage(std::move(message));
}

bool StreamCore::LookedAt(bool alive) {
  absl::MutexLock lock(&mutex_);
  if (!opening_.has_value() || detached_ || reads_ended_) return false;
  if (alive && ++signs_ <= kMostSigns) PostMessage(*opening_);
  return true;
}

void StreamCore::PostMessage(Message message) {
  executor_->Post([self = shared_from_this(), message = std::move(message)]() mutable {
    ControlEvents* const events = self->LiveEvents();
    if (events != nullptr) events->OnMessage(std::move(message));
  });
}

void StreamCore::PeerEnded() {
  absl::MutexLock lock(&mutex_);
  reading_ = false;
  if (!closing_) CloseLocked(absl::OkStatus());
  EndReads();
}

void StreamCore::Broken() {
  absl::MutexLock lock(&mutex_);
  queue_.clear();
  // Not closed here: what Ended says of the call is the cause.
  if (!closing_) CloseLocked(absl::CancelledError("the peer left"));
  Advance();
}

void StreamCore::EndReads() {
  if (std::exchange(reads_ended_, true)) return;
  ReadsEnded();
}

void StreamCore::Ended(const absl::Status& cause) {
  absl::MutexLock lock(&mutex_);
  ended_ = true;
  reads_ended_ = true;
  queue_.clear();
  cause_ = closed_here_ ? close_status_ : cause;
  if (executor_ != nullptr && !detached_) PostClosed();
}

void StreamCore::PostClosed() {
  executor_->Post([self = shared_from_this(), cause = cause_] { self->DeliverClosed(cause); });
}

void StreamCore::DeliverClosed(const absl::Status& cause) {
  ControlEvents* const events = LiveEvents();
  if (events != nullptr) events->OnClosed(cause);
}

ControlEvents* StreamCore::LiveEvents() {
  absl::MutexLock lock(&mutex_);
  return detached_ ? nullptr : events_;
}

}  // namespace tapedeck::services::session_stream
