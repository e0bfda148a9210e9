#include "storage_node/capture/trigger_port.h"

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "services/errors.h"

namespace tapedeck::storage_node::capture {
namespace {

absl::Status NotAnswered(absl::Duration patience, bool asked) {
  const std::string seconds = absl::StrCat(absl::ToInt64Seconds(patience));
  const char* what = asked ? "the LUN's disks have not made the recording for the next capture"
                           : "the session has not answered";
  return services::WithReason(
      absl::DeadlineExceededError(
          absl::StrCat("trigger: ", what, " in ", seconds, " s; nothing was kept, try again")),
      asked ? "LUN_NOT_RESPONDING" : "SESSION_STALLED",
      {{"phase", "trigger"}, {"seconds", seconds}});
}

}  // namespace

// One trigger. Held by who waits for its answer, and by its ticket.
class TriggerPort::Call {
 public:
  explicit Call(services::Trigger trigger) : trigger_(std::move(trigger)) {}

  absl::StatusOr<Caught> Await(absl::Duration patience) {
    absl::MutexLock lock(&mutex_);
    const auto answered = [this]()
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return answer_.has_value(); };
    left_ = !dataplane::AwaitFor(mutex_, absl::Condition(&answered), patience);
    if (left_) return NotAnswered(patience, asked_);
    return *std::move(answer_);
  }

  // False if it is to be tried again. Who waits leaves before or after it, not meanwhile.
  bool Try(const Act& act) {
    absl::MutexLock lock(&mutex_);
    if (left_) return true;
    asked_ = true;
    absl::StatusOr<Caught> result = act(trigger_);
    if (absl::IsAborted(result.status())) return false;
    answer_ = std::move(result);
    return true;
  }

  void End() {
    absl::MutexLock lock(&mutex_);
    if (!answer_.has_value()) answer_ = absl::UnavailableError("the session has ended");
  }

  bool left() const {
    absl::MutexLock lock(&mutex_);
    return left_;
  }

 private:
  const services::Trigger trigger_;
  mutable absl::Mutex mutex_;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool left_ ABSL_GUARDED_BY(mutex_) = false;  // nobody waits any more
  std::optional<absl::StatusOr<Caught>> answer_ ABSL_GUARDED_BY(mutex_);
};

// Goes with the task that has it, whether that has run or not.
class TriggerPort::Ticket {
 public:
  explicit Ticket(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  Ticket(Ticket&&) = default;
  Ticket& operator=(Ticket&&) = default;
  ~Ticket() {
    if (call_ != nullptr) call_->End();
  }
  Call& call() const { return *call_; }

 private:
  std::shared_ptr<Call> call_;
};

TriggerPort::TriggerPort(dataplane::Executor& executor, Act act, absl::Duration patience)
    : mailbox_(std::make_shared<store::Mailbox>(executor)),
      act_(std::move(act)),
      patience_(patience) {}

TriggerPort::~TriggerPort() = default;

absl::StatusOr<Caught> TriggerPort::Fire(const services::Trigger& trigger) {
  dataplane::MayWait("a session");
  const auto call = std::make_shared<Call>(trigger);
  mailbox_->Post([this, ticket = Ticket(call)]() mutable {
    std::erase_if(waiting_, [](const Ticket& other) { return other.call().left(); });
    if (!ticket.call().Try(act_)) waiting_.push_back(std::move(ticket));
  });
  return call->Await(patience_);
}

void TriggerPort::OnReady() {
  for (Ticket& ticket : std::exchange(waiting_, {})) {
    if (!ticket.call().Try(act_)) waiting_.push_back(std::move(ticket));
  }
}

void TriggerPort::Close() {
  mailbox_->Close();
  waiting_.clear();
}

}  // namespace tapedeck::storage_node::capture
