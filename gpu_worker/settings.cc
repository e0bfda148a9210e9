#include "gpu_worker/settings.h"

#include <utility>

#include "services/admin/admin.h"
#include "services/command_line/command_line.h"
#include "services/daemon.h"
#include "services/flight/switch.h"
#include "services/version.h"

namespace tapedeck::gpu_worker {

std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status) {
  Settings settings;
  services::command_line::CommandLine line(
      {.name = "tapedeck-worker",
       .purpose = "Tapedeck GPU worker: records from and plays back to a GPU or host memory.",
       .version = services::kVersion});
  const services::command_line::Command worker = line.program();
  worker
      .AddOption("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      .ShowDefault();
  worker.AddOption("--admin", settings.admin, services::admin::kAdminHelp);
  worker.AddOption(
      "--state", settings.state,
      "Directory, made if it is not there, for what the flight recorder has of jobs that fail");
  worker.AddOption("--device", settings.device, "auto, host or cuda:N").ShowDefault();
  worker
      .AddChoice("--flight-recorder", settings.flight, {{"on", true}, {"off", false}},
                 services::flight::kSwitchHelp)
      .FromEnvironment(services::flight::kSwitchVariable);
  worker.AddOption("--rail", settings.rails,
                   "NAME=KIND:ADDRESS, e.g. r0=tcp:10.0.0.2, or r0=tcp:%eth0 for the address of an "
                   "interface; once for each network port");
  worker
      .AddOption("--connections-per-rail", settings.connections_per_rail,
                 "Connections of each rail; more than one pays where one thread cannot fill a port")
      .Within(1, 8)
      .ShowDefault();
  services::identity::AddNodeOptions(worker, settings.identity);
  if (const std::optional<int> ended = line.Parse(argc, argv); ended.has_value()) {
    *exit_status = *ended;
    return std::nullopt;
  }
  auto trace = services::telemetry::trace::ReadSettings(services::telemetry::trace::FromProcess,
                                                        "tapedeck-worker");
  if (!trace.ok()) {
    *exit_status = services::FailedToStart("tapedeck-worker", trace.status());
    return std::nullopt;
  }
  settings.trace = *std::move(trace);
  auto supervisor = services::supervisor::ReadSettings(services::telemetry::trace::FromProcess);
  if (!supervisor.ok()) {
    *exit_status = services::FailedToStart("tapedeck-worker", supervisor.status());
    return std::nullopt;
  }
  settings.supervisor = *std::move(supervisor);
  return settings;
}

}  // namespace tapedeck::gpu_worker
