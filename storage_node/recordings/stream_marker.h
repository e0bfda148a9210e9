// Adds annotations of a stream to the segments that have their samples.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/deadline.h"
#include "services/model/recording/recording.h"
#include "storage_node/recordings/stream_segments.h"

namespace tapedeck::storage_node::recordings {

// Of one call; one thread. Each segment's file is written anew, so a call goes on until its
// deadline, with one at least, and its caller asks again.
class StreamMarker {
 public:
  // Adds all or none. NOT_FOUND: the recording is gone.
  using Add = std::function<absl::Status(const std::string& recording,
                                         std::span<const services::Annotation> annotations)>;

  StreamMarker(const StreamSegments& segments, Add add, dataplane::Deadline deadline)
      : segments_(segments), add_(std::move(add)), deadline_(deadline) {}

  // An error is of the first one, and nothing was added.
  absl::StatusOr<services::model::Marked> Mark(std::span<const services::Annotation> annotations);

 private:
  // The first ones, as long as they lie in one segment.
  absl::Status MarkRun(const std::string& recording,
                       std::span<const services::Annotation> annotations);
  // One that lies in several, as many of them as the time allows.
  absl::Status MarkEach(const StreamSegments::Pieces& pieces);

  const StreamSegments& segments_;
  const Add add_;
  const dataplane::Deadline deadline_;
  services::model::Marked marked_;
};

}  // namespace tapedeck::storage_node::recordings
