// The ingest source: samples of the channel's datatype that come in packets over the network.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/ingest/parameters.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::ingest {

// Listens from then on. INVALID_ARGUMENT (ARGUMENT_INVALID): it cannot listen there, or transforms
// need samples of another datatype. RESOURCE_EXHAUSTED (LIMIT_REACHED).
absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourcePlace& place);

}  // namespace tapedeck::gpu_worker::stages::ingest
