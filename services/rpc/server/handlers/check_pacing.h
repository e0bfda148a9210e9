// What a request may say of which samples go by and when: INVALID_ARGUMENT (ARGUMENT_INVALID).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::services::server {

// 0, or within a day from now by this machine's clock.
absl::Status CheckAt(absl::string_view field, int64_t at_ns);
// The pacing, and whether playhead and transforms go with it.
absl::Status CheckPacing(const PlaybackSpec& spec);

}  // namespace tapedeck::services::server
