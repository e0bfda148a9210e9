#include "dataplane/transport/rail_set.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/settings.h"
#include "services/base/files/file_roots.h"
#include "services/rpc/identity/security.h"

namespace tapedeck::gpu_worker {

using services::AddFault;
using services::AddFaults;
using services::Faults;
using services::files::FileRoots;

Faults LookBeforeStart(const Settings& settings) {
  Faults faults = services::identity::Security::Look(settings.listen, settings.identity);
  AddFaults(faults, dataplane::RailSet::Look(settings.rails, {.tls = settings.identity.rail_tls}));
  const auto roots = FileRoots::Parse(settings.file_roots);
  AddFault(faults, roots.ok() ? roots->CheckKernel() : roots.status());
  if (!settings.state.empty())
    AddFault(faults, services::files::CheckStateDirectory(settings.state));
  return faults;
}

services::config::Looked LookAtAll(const Settings& settings) {
  services::config::Looked looked{.faults = LookBeforeStart(settings)};
  for (const std::string& root : settings.file_roots) {
    const std::string directory = root.substr(root.find(':') + 1);
    AddFault(looked.warnings, services::files::CheckRootDirectory("--file-root", directory));
  }
  const auto devices = pipeline::ChooseDevices(settings.devices);
  AddFault(looked.faults, devices.status());
  looked.AddChecked(settings.rails.size(), "rail");
  looked.AddChecked(devices.ok() ? devices->size() : 0, "device");
  looked.AddChecked(settings.file_roots.size(), "file root");
  looked.AddChecked(settings.identity.tls.given() ? 1 : 0, "certificate");
  looked.AddChecked(settings.identity.policy.empty() ? 0 : 1, "policy");
  return looked;
}

}  // namespace tapedeck::gpu_worker
