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
                 "read:DIR or write:DIR that jobs may use files beneath; repeat it for more; "
                 "default none, or any if only this machine can connect, in plain text")
      .Check(FileRoots::CheckText);
  worker
      .AddOption("--storage-allow", settings.storage_allow,
                 "HOST:PORT of a storage node that jobs may name, e.g. *.lab.example:7400; repeat "
                 "it for more; default any")
      .Check(AddressPatterns::CheckPattern);
  worker
      .AddOption("--send-allow", settings.send_allow,
                 "IP address and port that jobs may send samples to, e.g. 10.0.0.*:4000; repeat it "
                 "for more; default none, or any if only this machine can connect, in plain text")
      .Check(AddressPatterns::CheckPattern);
}

void AddWorker(const services::command_line::Command& worker, Settings& settings) {
  worker
      .AddOption("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      .Check(services::CheckListenAddress)
      .ShowDefault();
  worker.AddOption("--admin", settings.admin, services::admin::kAdminHelp)
      .Check(services::CheckListenAddress);
  worker.AddOption("--state", settings.state,
                   "Directory for the list of jobs, whose numbers then continue after a restart, "
                   "and for dumps of failed jobs; created if it is missing");
  worker
      .AddOption("--device", settings.devices,
                 "auto (the first GPU that works, otherwise the host), all (every GPU), host or "
                 "cuda:N; repeat it for more; default auto")
      .Check(pipeline::CheckDevice);
  worker.AddChoice("--flight-recorder", settings.flight, {{"on", true}, {"off", false}},
                   services::flight::kSwitchHelp);
  worker
      .AddOption("--rail", settings.rails,
                 "NAME=KIND:ADDRESS, e.g. r0=tcp:10.0.0.2, or r0=tcp:%eth0 for the address of an "
                 "interface; repeat it for each network port")
      .Check(dataplane::CheckRail);
  worker
      .AddOption("--connections-per-rail", settings.connections_per_rail,
                 "Connections of each rail; more than one helps if one thread cannot fill a port")
      .Within(1, 8)
      .ShowDefault();
  worker.AddChoice("--inlets", settings.inlets, {{"on", true}, {"off", false}},
                   "on: other workers may record to this one (tapectl receive), and its rails "
                   "listen; default off");
  AddBounds(worker, settings);
  services::AddGraceOption(worker, settings.grace,
                           "jobs continue until 9s before it and are then cancelled");
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
  return services::config::ParseInto<Settings>(Described(), argc, argv, AddWorker, Check, look,
                                               exit_status);
}

}  // namespace tapedeck::gpu_worker
