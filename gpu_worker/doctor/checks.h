// What the doctor looks at on a worker: each device, and the ways between its memory and the rails.
// To add a check: a function in checks.cc, its line in the list there and here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataplane/topology/distance.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {

using services::doctor::Findings;
using services::doctor::Found;

struct DeviceFacts {
  std::string name;      // "host", "cuda:0"
  std::string why;       // it was chosen, as DeviceChoice has it
  bool on_host = false;  // it works in host memory
  absl::Status health;   // of the device
  absl::Status room;     // for one ring more in the window that network cards see
  std::vector<std::string> rdma_rails;
  std::vector<dataplane::topology::RailDistance> distances;
  std::vector<pipeline::MemoryLadder::Chosen> rungs;  // as the last probes found them
};

// Of the device `name`. `facts` is called for each examination, on a thread that may wait.
services::doctor::Check DeviceCheck(absl::string_view name, std::function<DeviceFacts()> facts);

void CheckDevice(const DeviceFacts& facts, Findings& findings);
void CheckDistances(const DeviceFacts& facts, Findings& findings);
void CheckWindow(const DeviceFacts& facts, Findings& findings);
void CheckRungs(const DeviceFacts& facts, Findings& findings);

}  // namespace tapedeck::gpu_worker::doctor
