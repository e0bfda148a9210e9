// The least, greatest and mean of samples over time, and the samples themselves.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/view.h"
#include "storage_node/view/opened.h"

namespace tapedeck::storage_node::view {

// The requests have the limits of services/model/view.h. Both wait for the disk.
absl::StatusOr<services::Envelope> MakeEnvelope(Opened& opened,
                                                const services::EnvelopeRequest& request);
absl::StatusOr<services::Samples> ReadSamples(Opened& opened,
                                              const services::SamplesRequest& request);

}  // namespace tapedeck::storage_node::view
