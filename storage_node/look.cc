#include "storage_node/look.h"

#include <algorithm>
#include <iterator>

#include "dataplane/transport/rail_set.h"
#include "services/faults.h"
#include "services/files/directory_check.h"
#include "services/identity/security.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node {

using services::AddFault;
using services::Faults;

Faults LookBeforeStart(const Settings& settings) {
  Faults faults = services::identity::Security::Look(settings.listen, settings.identity);
  std::ranges::move(dataplane::RailSet::Look(settings.rails, {.tls = settings.identity.rail_tls}),
                    std::back_inserter(faults));
  const absl::Status state = services::files::CheckStateDirectory(settings.state);
  AddFault(faults, state.ok() ? luns::ReadLunFiles(settings.state).status() : state);
  return faults;
}

Faults LookAtAll(const Settings& settings) {
  Faults faults = LookBeforeStart(settings);
  for (const std::string& root : settings.member_roots) {
    AddFault(faults, services::files::CheckRootDirectory("--member-root", root));
  }
  return faults;
}

}  // namespace tapedeck::storage_node
