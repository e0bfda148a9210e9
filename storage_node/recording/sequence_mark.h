// Sequences that arrive in any order, as a contiguous watermark and what lies beyond it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::recording {

// One thread. Memory grows with the disorder, not with the length.
class SequenceMark {
 public:
  void Add(uint64_t sequence) {
    if (sequence >= mark_) beyond_.insert(sequence);
    while (!beyond_.empty() && *beyond_.begin() == mark_) {
      beyond_.erase(beyond_.begin());
      ++mark_;
    }
  }

  bool Has(uint64_t sequence) const { return sequence < mark_ || beyond_.contains(sequence); }

  // Everything below is there.
  uint64_t mark() const { return mark_; }

  // One more than the highest.
  uint64_t end() const { return beyond_.empty() ? mark_ : *beyond_.rbegin() + 1; }

  // What is not there below end().
  std::vector<format::SequenceRange> Holes() const {
    std::vector<format::SequenceRange> holes;
    uint64_t next = mark_;
    for (const uint64_t sequence : beyond_) {
      if (sequence > next) holes.push_back({.first = next, .count = sequence - next});
      next = sequence + 1;
    }
    return holes;
  }

 private:
  uint64_t mark_ = 0;
  std::set<uint64_t> beyond_;
};

}  // namespace tapedeck::storage_node::recording
