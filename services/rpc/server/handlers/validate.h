// What requests must satisfy before anything is done: INVALID_ARGUMENT with the reason that fits.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/inlets.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/view.h"

namespace tapedeck::services::server {

// Names are checked by services/model/words/resource_name.h; here the rest.
absl::Status CheckRequestId(const std::string& id);
absl::Status CheckLunMembers(const Lun& lun);
absl::Status CheckAttachment(const LunAttachment& attachment);
absl::Status CheckRecordSpec(const RecordSpec& spec);
absl::Status CheckPlaybackSpec(const PlaybackSpec& spec);
absl::Status CheckReceiveSpec(const ReceiveSpec& spec);

// 0, or within a day from now by this machine's clock.
absl::Status CheckAt(absl::string_view field, int64_t at_ns);
// The pacing, and whether playhead and transforms go with it.
absl::Status CheckPacing(const PlaybackSpec& spec);

// Where a recording ends, the storage node knows.
absl::Status CheckView(const SpectrogramRequest& request);
absl::Status CheckView(const SamplesRequest& request);
absl::Status CheckView(const EnvelopeRequest& request);

}  // namespace tapedeck::services::server
