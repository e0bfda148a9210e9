// The segments of a stream, and which of them has a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

struct StreamSegment {
  uint64_t number = 0;
  catalog::ResourceName name;
};

// Those there are of the stream with this ID in the channel of `name`, in order; none of an empty
// ID. Waits for the catalog.
absl::StatusOr<std::vector<StreamSegment>> SegmentsOf(Recordings& recordings,
                                                      const catalog::ResourceName& name,
                                                      const std::string& stream);

// As it is when this is made. A value; any thread.
class StreamSegments {
 public:
  // Of the stream that `recording` is a segment of, or was the first one of, which is gone. None if
  // it is not a segment, or nothing says how many samples a segment has. Waits for the disk. The
  // errors of Recordings::Find.
  static absl::StatusOr<std::optional<StreamSegments>> Of(Recordings& recordings,
                                                          const std::string& recording);

  // Of the segment that there is with this sample of the stream. NOT_FOUND (RECORDING_NOT_FOUND):
  // it is gone. INVALID_ARGUMENT (ARGUMENT_INVALID): the newest one ends before.
  absl::StatusOr<uint64_t> NumberWith(uint64_t sample) const;
  std::string NameOf(uint64_t number) const;

 private:
  std::string stream_;
  std::vector<StreamSegment> segments_;  // in order; never empty
  uint64_t first_sample_ = 0;            // of segment 0
  uint64_t segment_samples_ = 0;
};

}  // namespace tapedeck::storage_node::recordings
