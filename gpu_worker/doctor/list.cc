#include <utility>

#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {
namespace {

using DeviceCheck = void (*)(const DeviceFacts&, Findings&);

constexpr DeviceCheck kDeviceChecks[] = {CheckDevice, CheckDistances, CheckWindow, CheckRungs};

}  // namespace

std::vector<services::doctor::Check> WorkerChecks(std::function<DeviceFacts()> facts) {
  return {{.name = "device",
           .run = [facts = std::move(facts)](const services::doctor::Request& /*request*/,
                                             Findings& findings) {
             const DeviceFacts device = facts();
             for (const DeviceCheck check : kDeviceChecks) check(device, findings);
           }}};
}

}  // namespace tapedeck::gpu_worker::doctor
