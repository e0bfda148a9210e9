#include "gpu_worker/settings.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "dataplane/transport/list.h"
#include "gpu_worker/allowed_storage.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/command_line/command_line.h"
#include "services/base/config/daemon_line.h"
#include "services/base/files/file_roots.h"
#include "services/base/version.h"
#include "services/daemon/admin/admin.h"
#include "services/observe/flight/trace.h"
#include "services/rpc/identity/address_patterns.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::gpu_worker {
namespace {

namespace telemetry = services::telemetry;
using services::files::FileRoots;
using services::identity::AddressPatterns;

constexpr char kProgram[] = "tapedeck-worker";

services::config::Daemon Described() {
  return {.about = {.name = kProgram,
                    .purpose =
                        "Tapedeck GPU worker: records from and plays back to a GPU or host memory.",
                    .version = services::kVersion},
          .role = services::NodeRole::kWorker,
          .variables = "TAPEDECK_WORKER_",
          .more_variables = {{"--flight-recorder", services::flight::kSwitchVariable}}};
}

// Of what jobs may name.
void AddBounds(const services::command_line::Command& worker, Settings& settings) {
  worker
      .AddOption("--file-root", settings.file_roots,
                 "read:DIR or write:DIR: jobs may name files beneath it, to be read or written; "
                 "once for each; without it none, or any if this machine alone can ask, in plain "
                 "text")
      .Check(FileRoots::CheckText);
  worker
      .AddOption("--storage-allow", settings.storage_allow,
                 "HOST:PORT of a storage node that jobs may name, e.g. *.lab.example:7400; once "
                 "for each; without it any")
      .Check(AddressPatterns::CheckPattern);
  worker
      .AddOption("--send-allow", settings.send_allow,
                 "HOST:PORT that jobs may send samples to, an IP address, e.g. 10.0.0.*:4000; once "
                 "for each; without it none, or any if this machine alone can ask, in plain text")
      .Check(AddressPatterns::CheckPattern);
}

void AddWorker(const services::command_line::Command& worker, Settings& settings) {
  worker
      .AddOption("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      .Check(services::CheckListenAddress)
      .ShowDefault();
  worker.AddOption("--admin", settings.admin, services::admin::kAdminHelp)
      .Check(services::CheckListenAddress);
  worker.AddOption(
      "--state", settings.state,
      "Directory, made if it is not there, for the list of the last jobs, whose numbers go on "
      "after a restart, and for what the flight recorder has of jobs that fail");
  worker
      .AddOption("--device", settings.devices,
                 "auto (the first GPU that works, else the host), all (every GPU), host or cuda:N; "
                 "once for each; default auto")
      .Check(pipeline::CheckDevice);
  worker.AddChoice("--flight-recorder", settings.flight, {{"on", true}, {"off", false}},
                   services::flight::kSwitchHelp);
  worker
      .AddOption("--rail", settings.rails,
                 "NAME=KIND:ADDRESS, e.g. r0=tcp:10.0.0.2, or r0=tcp:%eth0 for the address of an "
                 "interface; once for each network port")
      .Check(dataplane::CheckRail);
  worker
      .AddOption("--connections-per-rail", settings.connections_per_rail,
                 "Connections of each rail; more than one pays where one thread cannot fill a port")
      .Within(1, 8)
      .ShowDefault();
  worker.AddChoice("--inlets", settings.inlets, {{"on", true}, {"off", false}},
                   "on: other workers may record to this one (tapectl receive), and its rails "
                   "listen; off is the default");
  AddBounds(worker, settings);
  services::AddGraceOption(worker, settings.grace,
                           "jobs go on by themselves until 9s before, and are then cancelled");
  services::identity::AddNodeOptions(worker, settings.identity);
}

services::Faults Check(Settings& settings) {
  using services::AddFault;
  services::Faults faults;
  settings.trace = telemetry::trace::ReadSettings(telemetry::trace::FromProcess, kProgram);
  AddFault(faults, services::Take(services::supervisor::ReadSettings(telemetry::trace::FromProcess),
                                  settings.supervisor));
  AddFault(faults, pipeline::CheckDevices(settings.devices));
  AddFault(faults, services::identity::CheckOptions(settings.identity));
  AddFault(faults, FileRoots::Parse(settings.file_roots).status());
  AddFault(faults, AllowedStorage::Parse(settings.storage_allow).status());
  AddFault(faults, AddressPatterns::Parse("--send-allow", settings.send_allow).status());
  AddFault(faults,
           services::identity::CheckRailTls(settings.identity, settings.listen, settings.rails));
  AddFault(faults, services::identity::CheckPlainText(settings.listen, settings.identity));
  AddFault(faults, dataplane::CheckRails(settings.rails));
  return faults;
}

}  // namespace

std::optional<Settings> ParseSettings(int argc, char** argv, const Look& look, int* exit_status) {
  Settings settings;
  services::config::DaemonLine line(Described());
  AddWorker(line.program(), settings);
  const std::optional<int> ended = line.Parse(
      argc, argv, [&] { return Check(settings); }, [&] { return look(settings); });
  if (!ended.has_value()) return settings;
  *exit_status = *ended;
  return std::nullopt;
}

}  // namespace tapedeck::gpu_worker
