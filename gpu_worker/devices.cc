#include "gpu_worker/devices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gpu_worker/api/proxy/doorbell.h"
#include "gpu_worker/transfer/ring.h"
#include "services/base/errors.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/names.h"

namespace tapedeck::gpu_worker {

services::MemoryKindInfo DrivenDevice::Memory() const {
  services::MemoryKindInfo memory =
      on_host() ? parts_.placement.HostMemory()
                : parts_.placement.GpuMemory({.device = name(), .bytes = info().memory_bytes},
                                             info().pci_address);
  memory.description = parts_.choice.description;
  const absl::Status health = Health();
  memory.status = health.ok() ? parts_.choice.why : std::string(health.message());
  memory.rungs = ladder_.Describe();
  if (!on_host())
    memory.rungs.push_back(absl::StrCat("doorbells: rung by the CPU: ", api::WhyNoDoorbell()));
  return memory;
}

doctor::DeviceFacts DrivenDevice::FactsForDoctor() {
  doctor::DeviceFacts facts{.name = name(),
                            .why = parts_.choice.why,
                            .on_host = on_host(),
                            .health = Health(),
                            .distances = Memory().distances,
                            .rungs = ladder_.Choices()};
  if (!facts.health.ok()) return facts;  // the driver would say the same of all else
  device::DirectAccess* const direct = parts_.choice.device->direct();
  if (direct != nullptr) facts.room = direct->CheckRoom(transfer::kDefaultRingBytes);
  for (const dataplane::Transport* rail : parts_.rails) {
    if (rail->rail().transport == "verbs") facts.rdma_rails.push_back(rail->rail().name);
  }
  return facts;
}

void DrivenDevice::AddMetrics(services::telemetry::Page& page) const {
  page.Add("tapedeck_device_info", 1, {name(), parts_.choice.description});
  for (const auto& chosen : ladder_.Choices()) {
    page.Add("tapedeck_ladder_rung_info", 1,
             {name(), chosen.rail, services::model::LabelOf(chosen.direction),
              dataplane::ladder::NameOf(chosen.choice.rung)});
  }
}

Devices::Devices(const std::vector<pipeline::DeviceChoice>& choices,
                 const std::vector<dataplane::Transport*>& rails,
                 const services::Placement& placement)
    : placement_(placement) {
  for (const pipeline::DeviceChoice& choice : choices) {
    list_.push_back(std::make_unique<DrivenDevice>(
        DrivenDevice::Parts{.choice = choice, .rails = rails, .placement = placement}));
  }
}

absl::StatusOr<std::vector<DrivenDevice*>> Devices::Choose(
    absl::string_view asked, const std::function<size_t(const DrivenDevice&)>& busy) const {
  if (asked.empty()) {
    const auto load = [&](const auto& device) {
      return std::pair(!device->Health().ok(), busy(*device));
    };
    const auto least = std::ranges::min_element(list_, {}, load);
    return std::vector<DrivenDevice*>{least->get()};
  }
  std::vector<DrivenDevice*> chosen;
  for (const auto& device : list_) {
    if (asked == services::kAllDevices || asked == device->name()) chosen.push_back(device.get());
  }
  if (!chosen.empty()) return chosen;
  const auto name = [](std::string* out, const auto& device) {
    absl::StrAppend(out, device->name());
  };
  return services::ArgumentInvalid("device",
                                   absl::StrCat("this worker has no device \"", asked, "\", only ",
                                                absl::StrJoin(list_, ", ", name)));
}

absl::Status Devices::Health() const {
  for (const auto& device : list_) {
    if (device->Health().ok()) return absl::OkStatus();
  }
  return list_.front()->Health();
}

std::vector<services::MemoryKindInfo> Devices::Memory() const {
  std::vector<services::MemoryKindInfo> memory;
  for (const auto& device : list_) memory.push_back(device->Memory());
  const bool has_host = std::ranges::any_of(
      list_, &DrivenDevice::on_host, [](const auto& device) -> auto& { return *device; });
  if (!has_host) memory.push_back(placement_.HostMemory());
  return memory;
}

}  // namespace tapedeck::gpu_worker
