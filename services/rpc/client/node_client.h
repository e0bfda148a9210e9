// What a node tells about itself, from afar: its facts, what is wrong with it, its flight recorder.
// Each blocks, at most for `timeout`.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/node.h"
#include "services/observe/doctor/doctor.h"
#include "services/observe/doctor/pair/report.h"
#include "services/observe/flight/trace.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

absl::StatusOr<NodeInfo> GetNode(const Channel& channel, absl::Duration timeout);

absl::StatusOr<doctor::Diagnosis> Diagnose(const Channel& channel, const doctor::Request& request,
                                           absl::Duration timeout);

// Asks for the time so often, one after another.
absl::StatusOr<std::vector<doctor::pair::RoundTrip>> ReadClock(const Channel& channel, int times,
                                                               absl::Duration timeout);

// All pages of it, as one; `timeout` is for each page. RESOURCE_EXHAUSTED
// (LIMIT_REACHED): it is more than a node has rings for.
absl::StatusOr<flight::Trace> ReadTrace(const Channel& channel, absl::Duration timeout,
                                        const flight::TraceRequest& request);

}  // namespace tapedeck::services::client
