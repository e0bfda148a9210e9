// What a channel may be in a LUN.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::node {

// INVALID_ARGUMENT (BLOCK_SIZE_INVALID, DATATYPE_INVALID, ARGUMENT_INVALID).
absl::Status CheckChannel(const services::Channel& channel, const luns::LunTerms& lun);

// INVALID_ARGUMENT (ARGUMENT_INVALID): segments of fewer blocks than are made. A channel that is
// there may have them, and gets larger ones.
absl::Status CheckLeastSegment(const services::Channel& channel);

}  // namespace tapedeck::storage_node::node
