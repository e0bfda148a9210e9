// What a channel may be in a LUN, where it may have its recordings moved, and how slowly.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// INVALID_ARGUMENT (BLOCK_SIZE_INVALID, DATATYPE_INVALID, ARGUMENT_INVALID).
absl::Status CheckChannel(const services::Channel& channel, const luns::LunTerms& lun);

// INVALID_ARGUMENT (ARGUMENT_INVALID): segments of fewer blocks than are made. A channel that is
// there may have them, and gets larger ones.
absl::Status CheckLeastSegment(const services::Channel& channel);

// OK where they stay. NOT_FOUND (LUN_NOT_FOUND), INVALID_ARGUMENT (ARGUMENT_INVALID): the LUN is
// the channel's own, none that takes them, or one from which they would come back. One that is
// offline is believed.
absl::Status CheckMoveTo(recordings::Recordings& recordings, const services::Channel& channel);

// INVALID_ARGUMENT (ARGUMENT_INVALID): so slowly that the others wait. Asked for when it is set: a
// channel that is stored keeps what it has.
absl::Status CheckMoveRate(const services::Channel& channel);

}  // namespace tapedeck::storage_node::node
