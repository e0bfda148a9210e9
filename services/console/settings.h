// What a storage node is told of its console on its command line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/command_line/command_line.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::console {

// More than one rack of workers needs a console of its own.
inline constexpr size_t kMaxWorkers = 16;

struct Settings {
  std::string listen;                // HOST:PORT; empty: there is no console
  std::vector<std::string> workers;  // NAME=HOST:PORT
};

struct Worker {
  std::string name;     // in paths
  std::string address;  // HOST:PORT
};

void AddOptions(const command_line::Command& node, Settings& settings);

// INVALID_ARGUMENT unless it is NAME=HOST:PORT with a name of 1 to 63 of [A-Za-z0-9._-].
absl::StatusOr<Worker> ParseWorker(const std::string& text);

// Whether they go together, and with the node's certificates: as CheckPlainText of the address.
// INVALID_ARGUMENT.
absl::Status CheckOptions(const Settings& settings, const identity::Settings& identity);

}  // namespace tapedeck::services::console
