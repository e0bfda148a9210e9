#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {
namespace {

using Look = void (*)(const DeviceFacts&, Findings&);

constexpr Look kLooks[] = {CheckDevice, CheckDistances, CheckWindow, CheckRungs};

}  // namespace

services::doctor::Check DeviceCheck(absl::string_view name, std::function<DeviceFacts()> facts) {
  return {.name = absl::StrCat("device ", name),
          .run = [facts = std::move(facts)](const services::doctor::Request& /*request*/,
                                            Findings& findings) {
            const DeviceFacts device = facts();
            for (const Look look : kLooks) look(device, findings);
          }};
}

}  // namespace tapedeck::gpu_worker::doctor
