// Whether a node may encrypt what its rails carry.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::identity {

// INVALID_ARGUMENT where --rail-tls is on, and its keys would go in plain text to another machine.
// `listen` is of the gRPC services, `rails` are as --rail has them. Asks the resolver, which may
// wait.
absl::Status CheckRailTls(const Settings& settings, const std::string& listen,
                          const std::vector<std::string>& rails);

}  // namespace tapedeck::services::identity
