// The segments of a stream, and which of them has a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/model/playhead.h"
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

// The segments that a stream has when its playback begins. A value; any thread.
class SegmentsThere {
 public:
  // Waits for the catalog.
  static absl::StatusOr<SegmentsThere> Of(Recordings& recordings, const FoundRecording& found,
                                          const services::model::Playhead& playhead);

  // The last one that the playback goes on with. If it does not follow a stream that is being
  // written, it does not run after it either: to the end is to where the stream is now.
  uint64_t end() const { return end_; }
  // Whether none from `first` up to `end` was there: none of them was deleted since.
  bool None(uint64_t first, uint64_t end) const;
  uint64_t count() const { return numbers_.size(); }

 private:
  std::vector<uint64_t> numbers_;  // in order
  uint64_t end_ = UINT64_MAX;
};

// As it is when this is made. A value; any thread.
class StreamSegments {
 public:
  // Of the stream that `recording` is a segment of, or was the first one of, which is gone. None if
  // it is not a segment, or nothing says how many samples a segment has. Waits for the disk. The
  // errors of Recordings::Find.
  static absl::StatusOr<std::optional<StreamSegments>> Of(Recordings& recordings,
                                                          const std::string& recording);

  // An annotation in one of the segments. It lies in the first one that there is with samples of
  // it, and lasts from there on. Lost samples are told in each segment that has any: there are few
  // such annotations, and a ring may delete the first segment. Losses that are told together may
  // lie in any of these, and each part says so. What tells the signal of a segment that is gone
  // lies in the next one that there is, where it still holds.
  struct Piece {
    std::string recording;
    services::Annotation annotation;
  };
  struct Pieces {
    std::vector<Piece> there;  // in order; none if all its segments are gone
    uint64_t to_come = 0;      // the first lost sample that no segment has yet; 0: none
  };
  // INVALID_ARGUMENT (ARGUMENT_INVALID): no segment has its first sample yet.
  absl::StatusOr<Pieces> PiecesOf(const services::Annotation& annotation) const;

 private:
  uint64_t NumberOf(uint64_t sample) const;
  uint64_t BeginOf(uint64_t number) const { return first_sample_ + number * segment_samples_; }

  std::string stream_;
  std::vector<StreamSegment> segments_;  // in order; never empty
  uint64_t first_sample_ = 0;            // of segment 0
  uint64_t segment_samples_ = 0;
};

}  // namespace tapedeck::storage_node::recordings
