// Whether a channel takes a copy of a recording, and of what that copy says it is one. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/recording/origin.h"
#include "services/model/seams/catalog.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::services::copying {

// INVALID_ARGUMENT (ARGUMENT_INVALID): it holds something else.
absl::Status CheckCompatible(const Recording& source, const Channel& channel);

// Whether what is whole before it is written stays so in the channel: an import, or a copy.
// `luns` are its storage node's. INVALID_ARGUMENT (ARGUMENT_INVALID): the channel keeps what
// triggers tell alone, or its LUN is a ring that keeps less than `bytes`. Of a LUN that is not
// among them nothing is known. `held`: bytes of the ring that do not give way, as far as known.
absl::Status CheckKeeps(const Channel& channel, const std::vector<Lun>& luns, uint64_t bytes,
                        uint64_t held = 0);

// DATA_LOSS (RECORDING_NOT_FOUND): of the recording `name`, or of the stream that it is the first
// segment of, fewer than `blocks` are among `recordings`, its channel's.
absl::Status CheckIsWhole(const std::vector<Recording>& recordings, const std::string& name,
                          uint64_t blocks);

// INVALID_ARGUMENT (ARGUMENT_INVALID): the channel's LUN is a ring, which cuts what it takes into
// segments, and deletes the oldest.
absl::Status CheckIsNoRing(const Channel& channel, const std::vector<Lun>& luns);

// What a copy of `source` says that it is one of.
session::Original OriginalOf(const Recording& source);

// Origin of a copy of `source`: the one that it has, and its cause, cut at the most bytes of one.
// Without the cause if there is no room for it.
model::Origin OriginOf(const Recording& source);

}  // namespace tapedeck::services::copying
