// The blocks of a recording that came without payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::recording {

// One thread. Memory grows with the separate gaps, not with their lengths.
class Gaps {
 public:
  // `more` has nothing of what is there already.
  void Add(format::SequenceRange more) {
    blocks_ += more.count;
    auto next = ranges_.lower_bound(more.first);
    if (next != ranges_.end() && next->first == more.first + more.count) {
      more.count += next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == more.first) {
        before->second += more.count;
        return;
      }
    }
    ranges_.emplace_hint(next, more.first, more.count);
  }

  uint64_t blocks() const { return blocks_; }
  size_t ranges() const { return ranges_.size(); }

  // In order, with blocks that are there between them.
  std::vector<format::SequenceRange> List() const {
    std::vector<format::SequenceRange> list;
    for (const auto& [first, count] : ranges_) list.push_back({.first = first, .count = count});
    return list;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // first → count
  uint64_t blocks_ = 0;
};

}  // namespace tapedeck::storage_node::recording
