// What a storage node's answers about its channels and recordings must be before a worker believes
// them. INVALID_ARGUMENT (PROTOCOL_VIOLATION) names peer and field.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/recording/recording.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::services::session {

absl::Status CheckChannel(absl::string_view peer, const Channel& channel);
absl::Status CheckRecording(absl::string_view peer, const Recording& recording);

}  // namespace tapedeck::services::session
