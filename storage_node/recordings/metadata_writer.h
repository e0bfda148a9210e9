// Writes notes onto recordings, running or closed: keeps, markers, the signal at their begin, and
// why their stream ended.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "services/model/seams/recorder.h"
#include "storage_node/capture/stream_end.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

// Any thread but a session's: all of it waits for disks, and 10 s for a writer's.
class MetadataWriter {
 public:
  // `recordings` outlives it.
  explicit MetadataWriter(Recordings& recordings) : recordings_(recordings) {}

  // The errors of RecorderControl.
  // All of them or none.
  absl::Status Annotate(const std::string& recording,
                        std::span<const services::Annotation> annotations);
  // Each into the segments with its samples, as many as go in a second.
  absl::StatusOr<services::model::Marked> AnnotateStream(
      const std::string& recording, std::span<const services::Annotation> annotations);
  absl::Status Keep(const std::string& recording, bool kept);

  // Keeps and marks what the session could not by itself, since it is closed, and waits for what it
  // could.
  absl::Status WriteDown(capture::Caught& caught, const services::Trigger& trigger);

  // Says on the last segment how its stream ended, unless the stream has gone on since.
  absl::Status Conclude(const capture::StreamEnd& end);

  // Before a segment of a stream is deleted, of which this is the manifest: the next one that there
  // is takes the annotations that tell the signal, unless it has them. They keep their samples,
  // which lie before its own: readers take the newest for what holds at its first sample.
  absl::Status CarrySignal(const catalog::ResourceName& name, const format::Manifest& manifest);

 private:
  absl::Status Mark(const std::string& recording,
                    std::span<const services::Annotation> annotations);

  Recordings& recordings_;
};

}  // namespace tapedeck::storage_node::recordings
