#include "services/daemon/program.h"

#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"
#include "services/base/process/memory.h"
#include "services/base/process/surroundings.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/server/signals.h"

namespace tapedeck::services {

void PrepareDaemon() {
  PrepareSurroundings();
  identity::RefuseOldTls();
  RaiseDescriptorLimit();
  EndWhenOutOfMemory();
  ShareSpareMemory();
  server::BlockShutdownSignals();
  RouteGrpcLog();
  // Debian builds Abseil with deadlock detection on, which costs a lookup at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

absl::Status Serve(absl::FunctionRef<absl::StatusOr<std::unique_ptr<Serving>>()> start) {
  TD_RETURN_IF_ERROR(StartGrpc());
  TD_ASSIGN_OR_RETURN(const auto serving, start());
  server::WaitForShutdownSignal(GiveBackSpareMemory);
  serving->End();
  return absl::OkStatus();
}

}  // namespace tapedeck::services
