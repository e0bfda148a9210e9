#include "storage_node/trigger_port.h"

#include "absl/synchronization/notification.h"

namespace tapedeck::storage_node {

absl::StatusOr<Caught> TriggerPort::Fire(const services::Trigger& trigger) {
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

}  // namespace tapedeck::storage_node
