// The order in which the blocks of a stream arrive over two rails: each keeps its order, one may be
// far behind the other, and what was sent again comes twice.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>

#include "dataplane/block/sequence_mark.h"

namespace tapedeck::sim {

// One thread.
class Rails {
 public:
  // No block arrives `window` or more blocks before one that has not.
  Rails(uint64_t blocks, uint64_t window, uint64_t seed)
      : blocks_(blocks), window_(window), random_(seed) {}

  // None: all have come.
  std::optional<uint64_t> Next();

 private:
  void Send();

  const uint64_t blocks_;
  const uint64_t window_;
  std::mt19937_64 random_;
  std::deque<uint64_t> rails_[2];
  uint64_t sent_ = 0;   // all below
  uint64_t ahead_ = 0;  // the rail that is faster just now
  dataplane::SequenceMark arrived_;
};

}  // namespace tapedeck::sim
