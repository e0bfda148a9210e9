// The TCP transport: the default where there is no RDMA device, and a product in its own right.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane::tcp {

// OK: every machine has TCP.
absl::Status Usable();

// UNAVAILABLE if the address is not on this host or the port is taken; FAILED_PRECONDITION
// (RAIL_TLS_UNUSABLE) where it shall encrypt and the kernel cannot.
absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers);

}  // namespace tapedeck::dataplane::tcp
