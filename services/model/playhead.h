// Where a playback begins, and whether it goes on with a recording that still grows.
#pragma once

#include <cstdint>

namespace tapedeck::services::model {

struct Playhead {
  enum class Unit { kBlock, kSample, kTime };

  // The block of this sequence, or the one that holds this sample index or this capture time (ns
  // since the Unix epoch). Before the first block: the first. In a recording that is being written,
  // beyond the last: the next to come.
  Unit unit = Unit::kBlock;
  int64_t start = 0;

  // Where the recording is a segment of a stream, go on with the segments that follow, and begin in
  // the one that has the sample or time asked for.
  bool stream = false;

  // Play a recording that is being written, too, and end when it is closed.
  bool follow = false;
  // Give no block earlier than this after its capture, by the storage node's clock.
  int64_t behind_ns = 0;

  // Give what is good of a damaged block, with zeros for the rest and marked; else it is missing.
  bool damaged_blocks = false;

  bool operator==(const Playhead&) const = default;
};

}  // namespace tapedeck::services::model
