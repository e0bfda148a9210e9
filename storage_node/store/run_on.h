// Blocking work of a recording's files: done on a thread of the member, answered on the executor.
#pragma once

#include <memory>
#include <utility>

#include "storage_node/store/mailbox.h"

namespace tapedeck::storage_node::store {

// Runs `work` on `thread`, e.g. a services::TaskThread, and brings what it returns home to `done`.
template <typename Thread, typename Work, typename Callback>
void RunOn(Thread&& thread, std::shared_ptr<Mailbox> mailbox, Work work, Callback done) {
  thread.Run([mailbox = std::move(mailbox), work = std::move(work),
              done = std::move(done)]() mutable {
    mailbox->Post([result = work(), done = std::move(done)]() mutable { done(std::move(result)); });
  });
}

}  // namespace tapedeck::storage_node::store
