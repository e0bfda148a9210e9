// What requests must satisfy before anything is done: INVALID_ARGUMENT with the reason that fits.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/inlets.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::services::server {

// Names are checked by services/model/words/resource_name.h; here the rest.
absl::Status CheckRequestId(const std::string& id);
absl::Status CheckLunMembers(const Lun& lun);
absl::Status CheckAttachment(const LunAttachment& attachment);
absl::Status CheckRecordSpec(const RecordSpec& spec);
absl::Status CheckPlaybackSpec(const PlaybackSpec& spec);
absl::Status CheckReceiveSpec(const ReceiveSpec& spec);

}  // namespace tapedeck::services::server
