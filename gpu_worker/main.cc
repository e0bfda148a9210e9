// tapedeck-worker: a worker, from its command line to a request to end.

#include "gpu_worker/serving.h"
#include "gpu_worker/settings.h"
#include "services/base/process/daemon.h"
#include "services/daemon/program.h"

namespace tapedeck::gpu_worker {
namespace {

absl::Status Run(const Settings& settings) {
  return services::Serve([&] { return StartServing(settings); });
}

}  // namespace
}  // namespace tapedeck::gpu_worker

int main(int argc, char** argv) {
  tapedeck::services::PrepareDaemon();
  int exit_status = 0;
  const auto settings = tapedeck::gpu_worker::ParseSettings(
      argc, argv, tapedeck::gpu_worker::LookAtAll, &exit_status);
  if (!settings.has_value()) return exit_status;
  const auto faults = tapedeck::gpu_worker::LookBeforeStart(*settings);
  if (!faults.empty()) return tapedeck::services::RefusedToStart("tapedeck-worker", faults);
  const absl::Status status = tapedeck::gpu_worker::Run(*settings);
  return status.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-worker", {status});
}
