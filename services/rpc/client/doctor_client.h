// What is wrong with a node, from afar.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/observe/doctor/doctor.h"
#include "services/observe/doctor/pair/report.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

// Blocks, at most for `timeout`.
absl::StatusOr<doctor::Diagnosis> Diagnose(const Channel& channel, const doctor::Request& request,
                                           absl::Duration timeout);

// Asks for the time so often, one after another.
absl::StatusOr<std::vector<doctor::pair::RoundTrip>> ReadClock(const Channel& channel, int times,
                                                               absl::Duration timeout);

}  // namespace tapedeck::services::client
