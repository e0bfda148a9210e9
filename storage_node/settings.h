// The command line of tapedeck-storage, without the options of store kinds (store/list.h).
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
#include "services/console/settings.h"
#include "services/daemon/supervisor/supervisor.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::storage_node {

struct Settings {
  std::string listen = "127.0.0.1:7400";  // HOST:PORT of the gRPC services
  std::string admin;                      // HOST:PORT of the admin port; empty: none
  services::console::Settings console;    // the console and the workers that it knows
  std::string state;                      // directory of the catalog and the list of LUNs
  std::vector<std::string> rails;         // NAME=KIND:ADDRESS[:PORT]
  // Memory for the newest blocks of all followed recordings, in bytes; 0: followers read the disk.
  uint64_t follow_bytes = 1 << 30;
  std::vector<std::string> member_roots;  // directories for members of LUNs; empty: anywhere
  std::vector<std::vector<std::string>> standby_for;  // members of LUNs, to be taken over
  absl::Duration grace = services::kDefaultGrace;     // from a request to end until the end
  bool flight = true;            // record the steps of blocks; off only to measure what that costs
  bool check = false;            // read all recordings, tell what is damaged, then exit
  bool rebuild_catalog = false;  // make the catalog again from the files, then exit
  // Members of LUNs that the list in `state` lacks, for rebuild_catalog.
  std::vector<std::string> members;
  services::identity::Settings identity;
  services::telemetry::trace::Settings trace;  // of the environment
  services::supervisor::Settings supervisor;   // the same
};

// The check of everything that settings name: LookAtAll.
using Look = std::function<services::config::Looked(const Settings&)>;

// None if the process shall end with *exit_status: help, version or a check was asked for, or the
// line is wrong. `look` is for --check-config.
std::optional<Settings> ParseSettings(int argc, char** argv, const Look& look, int* exit_status);

// Each fault for which the node does not start. Waits for disks and the resolver.
services::Faults LookBeforeStart(const Settings& settings);

// The same, and what later steps of the start would meet: too little room for the state, a catalog
// of another version. Warns of what a node starts without and then lacks: directories for members
// that are not there may be mounted later.
services::config::Looked LookAtAll(const Settings& settings);

}  // namespace tapedeck::storage_node
