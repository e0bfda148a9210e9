// The requests of tapedeck/v1/catalog.proto that change something, and services/catalog_update.h.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "services/catalog_update.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::convert {

// Without a request_id.
v1::UpdateLunRequest ToProto(const LunUpdate& update);
v1::UpdateChannelRequest ToProto(const ChannelUpdate& update);

// ARGUMENT_INVALID if the mask is empty, or names a field that there is none of or that stays as it
// was made, and why it does.
absl::StatusOr<LunUpdate> FromProto(const v1::UpdateLunRequest& request);
absl::StatusOr<ChannelUpdate> FromProto(const v1::UpdateChannelRequest& request);

}  // namespace tapedeck::services::convert
