#include "storage_node/capture/trigger_port.h"

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/executor/waiting.h"

namespace tapedeck::storage_node::capture {
namespace {

// Until the disk has made the next recording: it is asked for when a capture begins.
constexpr absl::Duration kPatience = absl::Seconds(2);

}  // namespace

absl::StatusOr<Caught> TriggerPort::Fire(const services::Trigger& trigger) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (true) {
    auto caught = FireOnce(trigger);
    if (!absl::IsAborted(caught.status()) || absl::Now() > deadline) return caught;
    absl::SleepFor(absl::Milliseconds(5));
  }
}

absl::StatusOr<Caught> TriggerPort::FireOnce(const services::Trigger& trigger) {
  dataplane::MayWait("a session");
  struct Answer {
    absl::Notification given;
    absl::StatusOr<Caught> result = absl::UnavailableError("the session has ended");
  };
  auto answer = std::make_shared<Answer>();
  // Goes with the task, whether that has run or not.
  std::shared_ptr<void> end(nullptr, [answer](void*) { answer->given.Notify(); });
  mailbox_->Post([this, trigger, answer, end = std::move(end)] { answer->result = act_(trigger); });
  answer->given.WaitForNotification();
  return answer->result;
}

}  // namespace tapedeck::storage_node::capture
