#include "gpu_worker/look.h"

#include <algorithm>
#include <iterator>

#include "dataplane/transport/rail_set.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/faults.h"
#include "services/files/directory_check.h"
#include "services/files/file_roots.h"
#include "services/identity/security.h"

namespace tapedeck::gpu_worker {

using services::AddFault;
using services::Faults;
using services::files::FileRoots;

Faults LookBeforeStart(const Settings& settings) {
  Faults faults = services::identity::Security::Look(settings.listen, settings.identity);
  std::ranges::move(dataplane::RailSet::Look(settings.rails, {.tls = settings.identity.rail_tls}),
                    std::back_inserter(faults));
  const auto roots = FileRoots::Parse(settings.file_roots);
  AddFault(faults, roots.ok() ? roots->CheckKernel() : roots.status());
  if (!settings.state.empty())
    AddFault(faults, services::files::CheckStateDirectory(settings.state));
  return faults;
}

Faults LookAtAll(const Settings& settings) {
  Faults faults = LookBeforeStart(settings);
  for (const std::string& root : settings.file_roots) {
    const std::string directory = root.substr(root.find(':') + 1);
    AddFault(faults, services::files::CheckRootDirectory("--file-root", directory));
  }
  AddFault(faults, pipeline::ChooseDevices(settings.devices).status());
  return faults;
}

}  // namespace tapedeck::gpu_worker
