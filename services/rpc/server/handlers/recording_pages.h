// Pages of a listing of recordings, which may be of more than one wants to hold: they are asked for
// a few at a time. Any thread; waits for the catalog.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/identity/access.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::server {

// Those that the caller may see. INVALID_ARGUMENT (ARGUMENT_INVALID): the page's size or token.
// Else what the catalog says.
absl::Status FillWithRecordings(RecordingCatalog& recordings, const identity::Access& access,
                                const v1::ListRecordingsRequest& request,
                                v1::ListRecordingsResponse* response);

}  // namespace tapedeck::services::server
