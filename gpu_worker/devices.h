// The devices that jobs compute on: what each one is, and how the rails reach its memory. Made with
// its worker, which owns it, and then without change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/doctor/checks.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "services/daemon/placement.h"
#include "services/model/seams/node.h"
#include "services/observe/telemetry/page.h"

namespace tapedeck::gpu_worker {

// One of them. Any thread.
class DrivenDevice {
 public:
  // All of it outlives the device.
  struct Parts {
    const pipeline::DeviceChoice& choice;
    const std::vector<dataplane::Transport*>& rails;
    const services::Placement& placement;
  };

  // Waits for the rails to be probed.
  explicit DrivenDevice(const Parts& parts)
      : parts_(parts), ladder_(*parts.choice.device, parts.rails) {}

  const pipeline::DeviceChoice& choice() const { return parts_.choice; }
  const std::string& name() const { return info().name; }  // "cuda:1", "host"
  bool on_host() const { return info().works_in_host_memory; }
  pipeline::MemoryLadder& ladder() { return ladder_; }

  // FAILED_PRECONDITION (DEVICE_FAILED) once no job can run there any more. Does not wait.
  absl::Status Health() const { return parts_.choice.device->health().status(); }

  // What its jobs compute in.
  services::MemoryKindInfo Memory() const;
  // Waits for the driver.
  doctor::DeviceFacts FactsForDoctor();
  void AddMetrics(services::telemetry::Page& page) const;

 private:
  const device::DeviceInfo& info() const { return parts_.choice.device->info(); }

  const Parts parts_;
  pipeline::MemoryLadder ladder_;
};

// Of a worker, in the order in which they were named. Any thread.
class Devices {
 public:
  // At least one, each with a name of its own; all of it outlives the devices.
  Devices(const std::vector<pipeline::DeviceChoice>& choices,
          const std::vector<dataplane::Transport*>& rails, const services::Placement& placement);

  const std::vector<std::unique_ptr<DrivenDevice>>& list() const { return list_; }

  // Those that a job asks for: `asked` is the name of one, "all", or empty: of those that have not
  // failed the one with the least to do as `busy` counts it, of equals the first.
  // INVALID_ARGUMENT (ARGUMENT_INVALID) for a name that is none of theirs.
  absl::StatusOr<std::vector<DrivenDevice*>> Choose(
      absl::string_view asked, const std::function<size_t(const DrivenDevice&)>& busy) const;

  // The failure of the first one once all have failed. Does not wait.
  absl::Status Health() const;

  // Of each, and that of the host if none is the host: blocks pass through it.
  std::vector<services::MemoryKindInfo> Memory() const;

 private:
  const services::Placement& placement_;
  std::vector<std::unique_ptr<DrivenDevice>> list_;
};

}  // namespace tapedeck::gpu_worker
