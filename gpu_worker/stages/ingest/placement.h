// Puts the samples of packets, which may come in any order, at their places in blocks, and gives
// the blocks away in order. What did not come of a block is zeros in it, and named; a block of
// which nothing came is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/block/block.h"

namespace tapedeck::gpu_worker::stages::ingest {

struct Range {
  size_t begin = 0;
  size_t end = 0;  // one behind the last

  size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// Which parts of a block are there. One thread.
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

// The next block of the stream, or several of which nothing came.
struct Placed {
  dataplane::Block slot;    // empty: missing
  size_t bytes = 0;         // of its payload; less than a block's for the last one
  std::vector<Range> gaps;  // bytes of it that are zeros for want of samples
  uint64_t missing_blocks = 0;
};

struct PlacementParts {
  size_t block_bytes = 0;
  size_t sample_bytes = 0;  // divides block_bytes
  // A slot for a block; may wait. None: nobody wants blocks any more.
  std::function<std::optional<dataplane::Block>()> take;
  std::function<void(Placed)> give;
};

// One thread.
class Placement {
 public:
  // Blocks that are open for packets out of order: of what comes a whole block late nothing is
  // taken any more.
  static constexpr uint64_t kOpen = 2;
  // A packet further ahead is refused: the blocks before it would be missing, and each has an entry
  // in the index.
  static constexpr uint64_t kMostAhead = 1 << 16;

  enum class Outcome {
    kTaken,
    kRepeated,   // some of it is there already: nothing of it is taken
    kLate,       // its block is closed
    kFarAhead,   // see kMostAhead
    kScattered,  // its block has too many parts: see Ranges
    kUnwanted,   // there is no slot, nor will there be
  };

  explicit Placement(PlacementParts parts) : parts_(std::move(parts)) {}

  // Whole samples, at most kMaxPacketBytes of them.
  Outcome Place(int64_t position, std::span<const std::byte> samples);

  // One more than the newest sample's position.
  int64_t newest() const { return newest_; }

  // Where the open blocks begin: samples before it are given away.
  int64_t closed() const {
    return static_cast<int64_t>(first_ * (parts_.block_bytes / parts_.sample_bytes));
  }

  // Samples that have got their place.
  uint64_t taken() const { return taken_; }

  // Whether all came that is before `end` and not given away.
  bool IsWhole(int64_t end) const;

  // Gives away the rest: up to `end`, the stream's, where that may be, else up to the newest.
  void End(std::optional<int64_t> end);

 private:
  struct Open {
    dataplane::Block slot;  // empty: nothing came
    Ranges there;
  };

  Outcome Put(uint64_t block, const Range& range, std::span<const std::byte> bytes);
  void OpenUpTo(uint64_t block);
  void CloseFirst(size_t bytes);
  bool IsPossibleEnd(int64_t end) const;
  void CloseLast(size_t bytes);

  const PlacementParts parts_;
  uint64_t first_ = 0;  // the block of open_.front()
  std::deque<Open> open_ = std::deque<Open>(kOpen);
  int64_t newest_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace tapedeck::gpu_worker::stages::ingest
