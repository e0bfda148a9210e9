// Packets of VITA 49.2, with the times of a recording and what its annotations tell of the signal.
// What is missing, or annotated as lost, is not sent: the times leave it out.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/udp/packer.h"

namespace tapedeck::gpu_worker::stages::udp::vita49 {

// INVALID_ARGUMENT (ARGUMENT_INVALID): samples that are not big-endian, or a rate that is unknown
// or has no times in picoseconds.
absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::udp::vita49
