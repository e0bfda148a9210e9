#include "storage_node/catalog/state_thread.h"

#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::catalog {

absl::StatusOr<std::unique_ptr<StateThread>> StateThread::Create() {
  std::unique_ptr<StateThread> made(new StateThread());
  TD_ASSIGN_OR_RETURN(made->thread_, dataplane::StartThread("catalog", [own = made->shared_] {
                        own->tasks->Run();
                        own->ended.Notify();
                      }));
  return made;
}

StateThread::~StateThread() {
  if (!thread_.joinable()) return;
  shared_->tasks->Close();
  if (!shared_->hangs && dataplane::AwaitFor(shared_->ended, kStatePatience)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace tapedeck::storage_node::catalog
