// What a command that takes a recording's name is about: one recording, or a stream in segments as
// one. All such commands ask here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/playhead.h"
#include "services/model/recording/stream.h"
#include "services/model/recording/treatment.h"
#include "services/model/seams/view.h"
#include "services/rpc/client/catalog_client.h"
#include "services/site/nodes.h"

namespace tapedeck::services::tapectl {

// Of a command that takes a recording, or a stream in segments as one.
struct RecordingChoice {
  std::string name;
  std::optional<uint64_t> segment;  // of a stream this one alone
};

// As RecordingNameOf (names.h) takes it. The ID of a stream, and `latest` of a channel that is cut
// into segments, are the whole stream; the ID of a later segment is that one. What cannot be looked
// up is taken as it is: the node says what is wrong with it. With `segment`, that one
// alone, which is 0 of what is no stream. INVALID_ARGUMENT (ARGUMENT_INVALID): the command refuses
// what it is (services/model/recording/treatment.h).
absl::StatusOr<Stream> StreamNamed(model::Use use, const RecordingChoice& choice,
                                   client::CatalogClient& catalog);

// The same with all that the node says of it. NOT_FOUND (RECORDING_NOT_FOUND).
absl::StatusOr<Stream> StreamThere(model::Use use, const RecordingChoice& choice,
                                   client::CatalogClient& catalog);

// Adds to a segment what holds of it of the annotations of earlier ones of its stream; nothing to
// what is no segment, or has no block. The errors of both nodes' calls.
absl::Status AddLasting(client::CatalogClient& catalog, ViewControl& view, Recording* segment);

// "l0/c0/ID with 3 segments", or the recording alone.
std::string DoneText(const Stream& stream);

// Which of it are kept: "yes", "4 of 20 segments", or "-" for nothing.
std::string KeptText(const Stream& stream);

// The recording to open so that a playback begins at the playhead, which goes on with all segments
// then. A number of a block counts from the oldest segment there is. In a segment that is gone it
// begins with the next one.
std::string BeginOf(const Stream& stream, model::Playhead& playhead);

// INVALID_ARGUMENT (ARGUMENT_INVALID): of these blocks of the stream more are gone than there are,
// and nobody wants zeros for them all.
absl::Status CheckMostIsThere(const StreamLayout& layout, uint64_t first, uint64_t end);

// Looks at the stream, or the recording, as one. `nodes` outlives it.
std::unique_ptr<ViewControl> ViewOf(const Nodes& nodes, const Stream& stream,
                                    std::unique_ptr<ViewControl> view);

}  // namespace tapedeck::services::tapectl
