#include <sys/statvfs.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "dataplane/transport/rail_set.h"
#include "services/base/files/file_roots.h"
#include "services/rpc/identity/security.h"
#include "storage_node/catalog/rows.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/settings.h"

namespace tapedeck::storage_node {
namespace {

using services::AddFault;
using services::AddFaults;
using services::Faults;

// SQLite writes the catalog's log and its shared memory before the node takes anything.
constexpr uint64_t kRoomToStart = 128 << 10;

absl::Status CheckRoom(const std::string& state) {
  const std::string lies = services::files::StateDirectoryOrParent(state);
  struct statvfs found {};
  if (statvfs(lies.c_str(), &found) != 0) return absl::OkStatus();  // its own check has told that
  const uint64_t blocks = geteuid() == 0 ? found.f_bfree : found.f_bavail;
  if (found.f_files != 0 && found.f_favail == 0) {
    return disk::StateFull(state, "statvfs", absl::StrCat("no file can be made in ", lies));
  }
  if (blocks * found.f_frsize >= kRoomToStart) return absl::OkStatus();
  return disk::StateFull(
      state, "statvfs",
      absl::StrCat(lies, " has ", blocks * found.f_frsize,
                   " bytes of free space, and a start writes up to ", kRoomToStart));
}

// Fills `luns`.
Faults LookBefore(const Settings& settings, size_t& luns) {
  Faults faults = services::identity::Security::Look(settings.listen, settings.identity);
  AddFaults(faults, dataplane::RailSet::Look(settings.rails, {.tls = settings.identity.rail_tls}));
  for (const std::string& root : settings.member_roots) {
    const absl::Status status = services::files::CheckRootDirectory("--member-root", root);
    if (absl::IsInvalidArgument(status)) AddFault(faults, status);
  }
  const absl::Status state = services::files::CheckStateDirectory(settings.state);
  AddFault(faults, state);
  if (!state.ok()) return faults;
  const luns::LunFiles files = luns::LookAtLunFiles(settings.state);
  AddFaults(faults, files.faults);
  luns = files.luns.size();
  return faults;
}

}  // namespace

Faults LookBeforeStart(const Settings& settings) {
  size_t luns = 0;
  return LookBefore(settings, luns);
}

services::config::Looked LookAtAll(const Settings& settings) {
  size_t luns = 0;
  services::config::Looked looked{.faults = LookBefore(settings, luns)};
  AddFault(looked.faults, CheckRoom(settings.state));
  AddFault(looked.faults, catalog::Rows::Look(absl::StrCat(settings.state, "/catalog.sqlite")));
  for (const std::string& root : settings.member_roots) {
    const absl::Status status = services::files::CheckRootDirectory("--member-root", root);
    if (!absl::IsInvalidArgument(status)) AddFault(looked.warnings, status);
  }
  looked.AddChecked(settings.rails.size(), "rail");
  looked.AddChecked(luns, "LUN");
  looked.AddChecked(settings.member_roots.size(), "member root");
  looked.AddChecked(settings.identity.tls.given() ? 1 : 0, "certificate");
  looked.AddChecked(settings.identity.policy.empty() ? 0 : 1, "policy");
  return looked;
}

}  // namespace tapedeck::storage_node
