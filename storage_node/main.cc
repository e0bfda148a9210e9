// tapedeck-storage: a storage node, from its command line to a request to end, and its checks.

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/process/daemon.h"
#include "services/daemon/program.h"
#include "storage_node/luns/member_roots.h"
#include "storage_node/node/check.h"
#include "storage_node/node/node.h"
#include "storage_node/serving.h"
#include "storage_node/settings.h"

namespace tapedeck::storage_node {
namespace {

// A line for each finding and one for the whole, on stdout.
absl::Status RunCheck(const std::string& state_dir) {
  const dataplane::SystemClock clock;
  TD_ASSIGN_OR_RETURN(const node::CheckTotals totals,
                      node::CheckStorage(state_dir, clock, [](const node::Finding& finding) {
                        std::printf("%s %s: %s\n", finding.where.c_str(), finding.kind.c_str(),
                                    finding.detail.c_str());
                      }));
  const std::string text =
      absl::StrCat(totals.blocks, " blocks of ", totals.recordings, " recordings on ", totals.luns,
                   " LUNs: ", totals.damaged, " damaged, ", totals.missing, " known to be missing");
  std::printf("%s\n", text.c_str());
  if (totals.damaged == 0) return absl::OkStatus();
  return services::BlockDamaged({.blocks = totals.damaged},
                                absl::StrCat(text, "; the other blocks play, with these as gaps"));
}

absl::Status Run(const Settings& settings) {
  if (settings.check) return RunCheck(settings.state);
  if (settings.rebuild_catalog) {
    return node::RebuildCatalog(settings.state, settings.members,
                                luns::MemberRoots(settings.member_roots));
  }
  return services::Serve([&] { return StartServing(settings); });
}

}  // namespace
}  // namespace tapedeck::storage_node

int main(int argc, char** argv) {
  tapedeck::services::PrepareDaemon();
  int exit_status = 0;
  const auto settings = tapedeck::storage_node::ParseSettings(
      argc, argv, tapedeck::storage_node::LookAtAll, &exit_status);
  if (!settings.has_value()) return exit_status;
  if (!settings->check && !settings->rebuild_catalog) {
    const auto faults = tapedeck::storage_node::LookBeforeStart(*settings);
    if (!faults.empty()) return tapedeck::services::RefusedToStart("tapedeck-storage", faults);
  }
  const absl::Status status = tapedeck::storage_node::Run(*settings);
  return status.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-storage", {status});
}
