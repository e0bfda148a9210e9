// What a request may ask of a view: INVALID_ARGUMENT (ARGUMENT_INVALID). Where a recording ends,
// the storage node knows.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/view.h"

namespace tapedeck::services::server {

absl::Status CheckView(const SpectrogramRequest& request);
absl::Status CheckView(const SamplesRequest& request);
absl::Status CheckView(const EnvelopeRequest& request);

}  // namespace tapedeck::services::server
