// The checks of a machine, one file for each. To add one: a file, its line here and in list.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/observe/doctor/doctor.h"
#include "services/observe/doctor/scene.h"

namespace tapedeck::services::doctor {

// Runs on a thread of its own, for as long as what it looks at makes it wait.
struct Check {
  std::string name;                 // "ports", "luns/l0": one at a time of each
  CodeId late = "CHECK_NOT_ENDED";  // what is said where it does not end
  std::function<void(const Request& request, Findings& findings)> run;
};

// Those of every node.
std::vector<Check> MachineChecks(const std::shared_ptr<const Scene>& scene);

void CheckPorts(const Scene& scene, const Request& request, Findings& findings);
void CheckMtus(const Scene& scene, const Request& request, Findings& findings);
void CheckPeers(const Scene& scene, const Request& request, Findings& findings);
void CheckTemperatures(const Scene& scene, const Request& request, Findings& findings);
void CheckRegistration(const Scene& scene, const Request& request, Findings& findings);
void CheckMemory(const Scene& scene, const Request& request, Findings& findings);
void CheckHugePages(const Scene& scene, const Request& request, Findings& findings);
void CheckCrc(const Scene& scene, const Request& request, Findings& findings);

}  // namespace tapedeck::services::doctor
