// The udp sink: what is played, as packets that the source ingest reads. What is missing of it is
// not sent.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/udp/parameters.h"

namespace tapedeck::gpu_worker::stages::udp {

// PERMISSION_DENIED (DESTINATION_NOT_ALLOWED); INVALID_ARGUMENT (ARGUMENT_INVALID) where a block is
// no whole number of packets, or the packets cannot carry such samples; UNAVAILABLE
// (DESTINATION_UNREACHABLE), which a playback ends with, too, once it is told that nobody receives,
// or where the network takes nothing for a second.
absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkPlace& place);

}  // namespace tapedeck::gpu_worker::stages::udp
