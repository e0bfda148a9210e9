// Recordings as their users count them: the segments of one session are one stream, joined by what
// their manifests say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/client/catalog_client.h"
#include "services/session/playhead.h"

namespace tapedeck::services::tapectl {

struct Stream {
  // luns/…/recordings/ID; of a stream the ID of its first segment, which may be gone.
  std::string name;
  // Those there are, in order; never empty. Of what is no stream, the one recording.
  std::vector<Recording> segments;
  // Whether it stands for all segments of a session.
  bool segmented = false;
};

// Of recordings, newest first: their streams in that order, by their newest segments.
std::vector<Stream> StreamsOf(const std::vector<Recording>& recordings);

// As RecordingNameOf (names.h) takes it. The ID of a stream, and `latest` of a channel that is cut
// into segments, are the whole stream; the ID of a later segment is that one. What cannot be looked
// up is taken as it is: the node says what is wrong with it. With `segment`, that one
// alone, which is 0 of what is no stream.
absl::StatusOr<Stream> StreamNamed(const std::string& text, std::optional<uint64_t> segment,
                                   client::CatalogClient& catalog);

// As one recording: sums, the first's start, the last's end.
Recording Joined(const Stream& stream);

// "64", "64 (101-164)", or with segments missing between them "70 of 5-164"; "-" of what is no
// stream.
std::string SegmentsText(const Stream& stream);

// The recording to open so that a playback begins at the playhead, which goes on with all segments
// then. A number of a block counts from the oldest segment there is.
std::string BeginOf(const Stream& stream, session::Playhead& playhead);

}  // namespace tapedeck::services::tapectl
