#include <utility>

#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

using MachineCheck = void (*)(const Scene&, const Request&, Findings&);

constexpr std::pair<const char*, MachineCheck> kList[] = {
    {"ports", CheckPorts},
    {"mtus", CheckMtus},
    {"peers", CheckPeers},
    {"temperatures", CheckTemperatures},
    {"registration", CheckRegistration},
    {"memory", CheckMemory},
    {"huge pages", CheckHugePages},
    {"crc", CheckCrc},
};

}  // namespace

std::vector<Check> MachineChecks(const std::shared_ptr<const Scene>& scene) {
  std::vector<Check> checks;
  for (const auto& [name, check] : kList) {
    checks.push_back(
        {.name = name, .run = [scene, check = check](const Request& request, Findings& findings) {
           check(*scene, request, findings);
         }});
  }
  return checks;
}

}  // namespace tapedeck::services::doctor
