// Packets of the kind "numbered". A block that is missing leaves a gap in their numbers.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/udp/packer.h"

namespace tapedeck::gpu_worker::stages::udp::numbered {

// Any samples.
absl::StatusOr<std::unique_ptr<Packer>> CreatePacker(const PackerSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::udp::numbered
