#include "storage_node/store/mailbox.h"

#include <utility>

namespace tapedeck::storage_node::store {

void Mailbox::Post(dataplane::Task task) {
  absl::MutexLock lock(&mutex_);
  if (executor_ == nullptr) return;
  executor_->Post([self = shared_from_this(), task = std::move(task)]() mutable {
    {
      absl::MutexLock guard(&self->mutex_);
      if (self->executor_ == nullptr) return;
    }
    task();
  });
}

void Mailbox::Close() {
  absl::MutexLock lock(&mutex_);
  executor_ = nullptr;
}

}  // namespace tapedeck::storage_node::store
