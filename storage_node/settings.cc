#include "storage_node/settings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/transport/list.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/command_line/command_line.h"
#include "services/base/config/daemon_line.h"
#include "services/base/files/root_path.h"
#include "services/base/version.h"
#include "services/daemon/admin/admin.h"
#include "services/model/lun.h"
#include "services/model/words/member_name.h"
#include "services/observe/flight/trace.h"
#include "services/rpc/identity/tls/settings.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node {
namespace {

namespace telemetry = services::telemetry;

constexpr char kProgram[] = "tapedeck-storage";
constexpr size_t kMostStandbyLuns = 64;

services::config::Daemon Described() {
  return {.about = {.name = kProgram,
                    .purpose = "Tapedeck storage node: keeps recordings on its LUNs.",
                    .version = services::kVersion},
          .role = services::NodeRole::kStorage,
          .variables = "TAPEDECK_STORAGE_",
          .more_variables = {{"--flight-recorder", services::flight::kSwitchVariable}}};
}

absl::Status AddStandby(const std::string& text, Settings& settings) {
  if (settings.standby_for.size() == kMostStandbyLuns) {
    return absl::InvalidArgumentError("a node is a standby for at most 64 LUNs");
  }
  std::vector<std::string> members = absl::StrSplit(text, ',');
  if (members.size() > services::model::kMaxMembers) {
    return absl::InvalidArgumentError("a LUN has at most 64 members");
  }
  for (const std::string& member : members) {
    if (services::IsMemberName(member)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", member, "' is not a member of a LUN: give rados:POOL/NAMESPACE or an absolute path"));
  }
  settings.standby_for.push_back(std::move(members));
  return absl::OkStatus();
}

void AddNode(const services::command_line::Command& node, Settings& settings) {
  node.AddOption("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      .Check(services::CheckListenAddress)
      .ShowDefault();
  node.AddOption("--admin", settings.admin, services::admin::kAdminHelp)
      .Check(services::CheckListenAddress);
  services::console::AddOptions(node, settings.console);
  node.AddOption("--state", settings.state, "Directory of the catalog; created if it is missing")
      .Required();
  node.AddOption("--rail", settings.rails,
                 "NAME=KIND:ADDRESS[:PORT], e.g. r0=tcp:10.0.0.1, or r0=tcp:%eth0 for the address "
                 "of an interface; repeat it for each network port")
      .Check(dataplane::CheckRail);
  node.AddChoice("--flight-recorder", settings.flight, {{"on", true}, {"off", false}},
                 services::flight::kSwitchHelp);
  node.AddOption("--follow-memory", settings.follow_bytes,
                 "Memory for the newest blocks of followed recordings, e.g. 512MiB; followers "
                 "further behind read the disk; 0: all do")
      .InBytes()
      .ShowDefault();
  node.AddOption("--member-root", settings.member_roots,
                 "Absolute path that members of LUNs must lie beneath, e.g. /dev/disk/by-id for "
                 "devices; repeat it for more; default anywhere")
      .Check(services::files::CheckRootPath);
  store::AddOptions(node);
  const auto take = [&settings](const std::string& text) { return AddStandby(text, settings); };
  node.AddRepeatedOption("--standby-for", take,
                         "Members of a LUN to stand by for, e.g. rados:tape/deep or MEMBER,MEMBER: "
                         "take it over once its node is gone; repeat it for each LUN");
  services::AddGraceOption(node, settings.grace,
                           "sessions continue until 4s before it and are then sealed");
  services::identity::AddNodeOptions(node, settings.identity);
}

// What the process does instead of serving, which no file can say.
void AddOneShotOptions(const services::command_line::Command& node, Settings& settings) {
  node.AddFlag("--check", settings.check,
               "Check every recording, print the damage, change nothing, then exit: 1 if anything "
               "is damaged");
  const auto rebuild = node.AddFlag("--rebuild-catalog", settings.rebuild_catalog,
                                    "Rebuild the catalog from the LUNs' files, then exit");
  node.AddOption("--member", settings.members,
                 "With --rebuild-catalog: member of a LUN that --state does not know, or not at "
                 "that path; repeat it for each, in any order")
      .Needs(rebuild);
}

services::Faults Check(Settings& settings) {
  using services::AddFault;
  services::Faults faults;
  settings.trace = telemetry::trace::ReadSettings(telemetry::trace::FromProcess, kProgram);
  AddFault(faults, services::Take(services::supervisor::ReadSettings(telemetry::trace::FromProcess),
                                  settings.supervisor));
  AddFault(faults, services::identity::CheckOptions(settings.identity));
  AddFault(faults, services::files::CheckRootCount("--member-root", settings.member_roots.size()));
  AddFault(faults,
           services::identity::CheckRailTls(settings.identity, settings.listen, settings.rails));
  if (settings.check || settings.rebuild_catalog) return faults;
  AddFault(faults, services::identity::CheckPlainText(settings.listen, settings.identity));
  AddFault(faults, services::console::CheckOptions(settings.console, settings.identity));
  AddFault(faults, dataplane::CheckRails(settings.rails));
  return faults;
}

}  // namespace

std::optional<Settings> ParseSettings(int argc, char** argv, const Look& look, int* exit_status) {
  return services::config::ParseInto<Settings>(
      Described(), argc, argv,
      [](services::command_line::Command program, Settings& settings) {
        AddNode(program, settings);
        AddOneShotOptions(program, settings);
      },
      Check, look, exit_status);
}

}  // namespace tapedeck::storage_node
