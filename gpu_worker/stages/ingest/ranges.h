// Which parts of a block are there.
#pragma once

#include <cstddef>
#include <vector>

namespace tapedeck::gpu_worker::stages::ingest {

struct Range {
  size_t begin = 0;
  size_t end = 0;  // one behind the last

  size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// One thread.
class Ranges {
 public:
  // Separate parts of one block. A stream with a loss in every other packet of the smallest size
  // that networks carry needs fewer.
  static constexpr size_t kMost = 16'384;

  enum class Added { kAdded, kOverlaps, kTooMany };
  // Adds all of `more`, which is not empty, or nothing of it.
  Added Add(const Range& more);

  // What is not there of [0, end).
  std::vector<Range> Gaps(size_t end) const;

  bool empty() const { return ranges_.empty(); }
  // All of [0, end) is there.
  bool Covers(size_t end) const {
    return end == 0 ||
           (!ranges_.empty() && ranges_.front().begin == 0 && ranges_.front().end >= end);
  }

 private:
  std::vector<Range> ranges_;  // in order, none touches the next
};

}  // namespace tapedeck::gpu_worker::stages::ingest
