// The command line of tapedeck-worker.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/base/faults.h"
#include "services/base/process/grace.h"
#include "services/base/trace/settings.h"
#include "services/daemon/supervisor/supervisor.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::gpu_worker {

struct Settings {
  std::string listen = "127.0.0.1:7500";        // HOST:PORT of the gRPC services
  std::string admin;                            // HOST:PORT of the admin port; empty: none
  std::string state;                            // directory of what jobs leave; empty: none
  std::vector<std::string> devices = {"auto"};  // auto or all alone, or host, cuda:N, each once
  std::vector<std::string> rails;               // NAME=KIND:ADDRESS
  uint32_t connections_per_rail = 1;            // 1 to 8
  std::vector<std::string> file_roots;          // read:DIR or write:DIR, for files that jobs name
  std::vector<std::string> storage_allow;       // HOST:PORT of storage nodes for jobs; empty: any
  std::vector<std::string> send_allow;          // HOST:PORT that jobs may send samples to
  bool inlets = false;                          // take streams of other workers
  absl::Duration grace = services::kDefaultGrace;  // from a request to end until the end
  bool flight = true;  // record the steps of blocks; off only to measure what that costs
  services::identity::Settings identity{.for_others = false};
  services::telemetry::trace::Settings trace;  // of the environment
  services::supervisor::Settings supervisor;   // the same
};

// The check of everything that settings name: LookAtAll.
using Look = std::function<services::config::Looked(const Settings&)>;

// None if the process shall end with *exit_status: help, version or a check was asked for, or the
// line is wrong. `look` is for --check-config.
std::optional<Settings> ParseSettings(int argc, char** argv, const Look& look, int* exit_status);

// Each fault for which the worker does not start, but for those of its devices, which the start
// itself chooses first. Waits for disks and the resolver.
services::Faults LookBeforeStart(const Settings& settings);

// The same with the devices. Warns of what a worker starts without and then lacks: directories of
// jobs' files that are not there may be mounted later.
services::config::Looked LookAtAll(const Settings& settings);

}  // namespace tapedeck::gpu_worker
