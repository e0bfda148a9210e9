// Positions of samples as users count them: 0 is the first sample that a recording, a segment or a
// stream has. Storage nodes and workers count the samples of the session. Here alone one becomes
// the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "services/model/playhead.h"
#include "services/model/recording/stream.h"
#include "services/model/seams/view.h"
#include "services/model/words/timing.h"

namespace tapedeck::services::tapectl {

// The session's number of a recording's sample 0; none: no block of it can be read.
std::optional<uint64_t> FirstSampleOf(const Timeline& timeline);

// Turns the positions of a playback into the session's; what is out of order the worker refuses.
// Sample 0 to begin at stays 0, the node's word for the first. `view` is of recordings, not of
// streams. What it returns is to be told: why the playback begins later than at the time asked for.
// INVALID_ARGUMENT (ARGUMENT_INVALID): one lies outside, or no block can be read yet. The errors of
// the node.
absl::StatusOr<std::string> CountInSession(const Stream& stream, ViewControl& view,
                                           model::Playhead& playhead, model::Pacing& pacing);

// A sample of a recording as the node counts it.
struct SamplePlace {
  std::string recording;  // of a stream the segment
  uint64_t sample = 0;
};

// Of a position. A recording under way may still come to it; a part of a recording on several nodes
// has samples of the whole, which begins at 0. INVALID_ARGUMENT (ARGUMENT_INVALID): it lies
// outside, or no segment has it. The errors of the node.
absl::StatusOr<SamplePlace> PlaceOfSample(const Stream& stream, uint64_t sample, ViewControl& view);

}  // namespace tapedeck::services::tapectl
