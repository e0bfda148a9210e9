// The answers of a Source or Sink. Neither ever blocks.
#pragma once

#include <cstdint>
#include <functional>

namespace tapedeck::dataplane {

enum class Flow {
  kMoved,   // a block changed hands
  kNotNow,  // nothing possible now; the waker is called when that may have changed
  kEnd,     // complete: nothing more will ever come (Source), or all is committed (Sink)
};

// Called from any thread, and only ever schedules: it must not call back into the Source or Sink
// inline. Spurious calls are allowed.
using Waker = std::function<void()>;

// Recorded blocks go from memory to storage, played ones come back.
enum class Direction { kRecord = 1, kPlayback = 2 };
inline constexpr Direction kDirections[] = {Direction::kRecord, Direction::kPlayback};

// A commit level says what an acknowledgement of a block means.
enum class CommitLevel { kReceived = 1, kWritten = 2, kDurable = 3 };

// Each is a contiguous watermark: every sequence below it has reached that level.
struct Watermarks {
  uint64_t received = 0;
  uint64_t written = 0;
  uint64_t durable = 0;

  uint64_t at(CommitLevel level) const {
    return level == CommitLevel::kReceived  ? received
           : level == CommitLevel::kWritten ? written
                                            : durable;
  }
  bool operator==(const Watermarks&) const = default;
};

}  // namespace tapedeck::dataplane
