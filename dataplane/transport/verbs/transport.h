// The verbs transport: RDMA over RoCEv2 ports. Without libibverbs in the build, absent.cc answers
// in its place.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane::verbs {

// OK if this machine has an RDMA port that is up; else NO_RDMA_DEVICE, saying what is missing.
absl::Status Usable();

// An address of this machine at which two ends can meet; empty if not Usable.
std::string LoopbackAddress();

// NO_RDMA_DEVICE if no RDMA port has the address. Never falls back to another transport.
absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers);

}  // namespace tapedeck::dataplane::verbs
