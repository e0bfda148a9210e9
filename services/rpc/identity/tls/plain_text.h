// Where a node may do without certificates.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::identity {

// INVALID_ARGUMENT where `listen` is an address that other machines reach, and there are neither
// certificates nor --insecure. Asks the resolver, which may wait.
absl::Status CheckPlainText(const std::string& listen, const Settings& settings);

}  // namespace tapedeck::services::identity
