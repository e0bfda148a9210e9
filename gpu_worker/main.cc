// tapedeck-worker: a worker, from its command line to a request to end.

#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/look.h"
#include "gpu_worker/serving.h"
#include "gpu_worker/settings.h"
#include "services/base/process/daemon.h"
#include "services/base/process/memory.h"
#include "services/base/process/surroundings.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/server/signals.h"

namespace tapedeck::gpu_worker {
namespace {

absl::Status Run(const Settings& settings) {
  TD_RETURN_IF_ERROR(services::StartGrpc());
  TD_ASSIGN_OR_RETURN(const auto serving, Serving::Start(settings));
  services::server::WaitForShutdownSignal(services::GiveBackSpareMemory);
  serving->End();
  return absl::OkStatus();
}

}  // namespace
}  // namespace tapedeck::gpu_worker

int main(int argc, char** argv) {
  tapedeck::services::PrepareSurroundings();
  tapedeck::services::identity::RefuseOldTls();
  tapedeck::services::RaiseDescriptorLimit();
  tapedeck::services::EndWhenOutOfMemory();
  tapedeck::services::ShareSpareMemory();
  tapedeck::services::server::BlockShutdownSignals();
  tapedeck::services::RouteGrpcLog();
  // Debian builds Abseil with deadlock detection on, which costs a lookup at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  int exit_status = 0;
  const auto settings = tapedeck::gpu_worker::ParseSettings(
      argc, argv, tapedeck::gpu_worker::LookAtAll, &exit_status);
  if (!settings.has_value()) return exit_status;
  const auto faults = tapedeck::gpu_worker::LookBeforeStart(*settings);
  if (!faults.empty()) return tapedeck::services::RefusedToStart("tapedeck-worker", faults);
  const absl::Status status = tapedeck::gpu_worker::Run(*settings);
  return status.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-worker", {status});
}
