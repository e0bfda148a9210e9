#include "storage_node/settings.h"

#include <utility>

#include "services/admin/admin.h"
#include "services/command_line/command_line.h"
#include "services/daemon.h"
#include "services/flight/switch.h"
#include "services/version.h"

namespace tapedeck::storage_node {

std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status) {
  Settings settings;
  services::command_line::CommandLine line(
      {.name = "tapedeck-storage",
       .purpose = "Tapedeck storage node: keeps recordings on its LUNs.",
       .version = services::kVersion});
  const services::command_line::Command node = line.program();
  node.AddOption("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      .ShowDefault();
  node.AddOption("--admin", settings.admin, services::admin::kAdminHelp);
  node.AddOption("--state", settings.state, "Directory of the catalog; made if it is missing")
      .Required();
  node.AddOption(
      "--rail", settings.rails,
      "NAME=KIND:ADDRESS[:PORT], e.g. r0=tcp:10.0.0.1, or r0=tcp:%eth0 for the address of an "
      "interface; once for each network port");
  node.AddChoice("--flight-recorder", settings.flight, {{"on", true}, {"off", false}},
                 services::flight::kSwitchHelp)
      .FromEnvironment(services::flight::kSwitchVariable);
  node.AddOption("--follow-memory", settings.follow_bytes,
                 "Memory for the newest blocks of all recordings that are followed, e.g. 512MiB; "
                 "followers further behind read the disk; 0: all do")
      .InBytes()
      .ShowDefault();
  node.AddFlag("--check", settings.check,
               "Read every recording, print what is damaged, change nothing, then exit: 1 if "
               "anything is");
  const auto rebuild = node.AddFlag("--rebuild-catalog", settings.rebuild_catalog,
                                    "Make the catalog again from the LUNs' files, then exit");
  node.AddOption("--member", settings.members,
                 "With --rebuild-catalog: a member of a LUN that --state knows nothing of, or not "
                 "there; once for each, in any order")
      .Needs(rebuild);
  services::identity::AddNodeOptions(node, settings.identity);
  if (const std::optional<int> ended = line.Parse(argc, argv); ended.has_value()) {
    *exit_status = *ended;
    return std::nullopt;
  }
  auto trace = services::telemetry::trace::ReadSettings(services::telemetry::trace::FromProcess,
                                                        "tapedeck-storage");
  if (!trace.ok()) {
    *exit_status = services::FailedToStart("tapedeck-storage", trace.status());
    return std::nullopt;
  }
  settings.trace = *std::move(trace);
  auto supervisor = services::supervisor::ReadSettings(services::telemetry::trace::FromProcess);
  if (!supervisor.ok()) {
    *exit_status = services::FailedToStart("tapedeck-storage", supervisor.status());
    return std::nullopt;
  }
  settings.supervisor = *std::move(supervisor);
  return settings;
}

}  // namespace tapedeck::storage_node
