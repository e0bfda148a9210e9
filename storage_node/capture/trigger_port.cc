#include "storage_node/capture/trigger_port.h"

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/log.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::capture {
namespace {

absl::Status NotAnswered(absl::Duration patience, bool heard) {
  const std::string seconds = absl::StrCat(absl::ToInt64Seconds(patience));
  return services::WithReason(
      absl::DeadlineExceededError(
          heard ? absl::StrCat("trigger: the LUN's disks have not created the recording within ",
                               seconds, " s; the node keeps the capture once they have")
                : absl::StrCat("trigger: the session has not answered within ", seconds,
                               " s; nothing was kept, try again")),
      heard ? "LUN_NOT_RESPONDING" : "SESSION_STALLED",
      {{"phase", "trigger"}, {"seconds", seconds}});
}

}  // namespace

void LogNotCome(uint64_t sample, size_t triggers) {
  dataplane::Log(dataplane::LogLevel::kWarning, "trigger",
                 "a trigger's sample never arrived in its session",
                 {{"sample", absl::StrCat(sample)}, {"triggers", absl::StrCat(triggers)}});
}

// One trigger. Held by the caller that waits for its answer, and by its ticket.
class TriggerPort::Call {
 public:
  explicit Call(services::Trigger asked) : trigger(std::move(asked)) {}

  const services::Trigger trigger;

  absl::StatusOr<Caught> Await(absl::Duration patience) {
    absl::MutexLock lock(&mutex_);
    const auto answered = [this]()
                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return answer_.has_value(); };
    left_ = !dataplane::AwaitFor(mutex_, absl::Condition(&answered), patience);
    if (left_) return NotAnswered(patience, heard_);
    return *std::move(answer_);
  }

  // False if its caller has left: it was told that nothing is done.
  bool Hear() {
    absl::MutexLock lock(&mutex_);
    heard_ = !left_;
    return heard_;
  }

  // The first answer counts.
  void Take(absl::StatusOr<Caught> answer) {
    absl::MutexLock lock(&mutex_);
    if (!answer_.has_value()) answer_ = std::move(answer);
  }

 private:
  absl::Mutex mutex_;
  bool heard_ ABSL_GUARDED_BY(mutex_) = false;
  bool left_ ABSL_GUARDED_BY(mutex_) = false;  // nobody waits any more
  std::optional<absl::StatusOr<Caught>> answer_ ABSL_GUARDED_BY(mutex_);
};

// Goes with the task or the answer that has it, whether that has run or not.
class TriggerPort::Ticket {
 public:
  explicit Ticket(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  Ticket(Ticket&&) = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (call_ != nullptr) call_->Take(absl::UnavailableError("the session has ended"));
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
  mailbox_->Post([this, call, ticket = Ticket(call)]() mutable {
    if (!call->Hear()) return;
    act_(call->trigger, [ticket = std::move(ticket)](absl::StatusOr<Caught> answer) {
      ticket.call().Take(std::move(answer));
    });
  });
  return call->Await(patience_);
}

void TriggerPort::Close() { mailbox_->Close(); }

}  // namespace tapedeck::storage_node::capture
