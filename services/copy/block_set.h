// Numbers of blocks as ranges, since they come nearly in order. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace tapedeck::services::copying {

class BlockSet {
 public:
  void Add(uint64_t number) {
    if (Has(number)) return;
    uint64_t first = number;
    uint64_t end = number + 1;
    const auto after = ranges_.upper_bound(number);
    if (after != ranges_.begin() && std::prev(after)->second == number) {
      first = std::prev(after)->first;
    }
    if (after != ranges_.end() && after->first == end) {
      end = after->second;
      ranges_.erase(after);
    }
    ranges_[first] = end;
    ++size_;
  }

  void Add(const BlockSet& other) {
    for (const auto& [first, end] : other.ranges_) {
      for (uint64_t number = first; number < end; ++number) Add(number);
    }
  }

  bool Has(uint64_t number) const {
    const auto after = ranges_.upper_bound(number);
    return after != ranges_.begin() && std::prev(after)->second > number;
  }

  uint64_t size() const { return size_; }
  // One more than the highest.
  uint64_t end() const { return ranges_.empty() ? 0 : std::prev(ranges_.end())->second; }
  // Each from its first number to behind its last one.
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }

  // Those of this one that `other` has not.
  BlockSet Without(const BlockSet& other) const {
    BlockSet rest;
    auto theirs = other.ranges_.begin();
    for (const auto& [begin, end] : ranges_) {
      uint64_t first = begin;
      while (theirs != other.ranges_.end() && theirs->second <= first) ++theirs;
      for (auto at = theirs; at != other.ranges_.end() && at->first < end; ++at) {
        rest.AddRange(first, at->first);
        first = std::min(end, at->second);
      }
      rest.AddRange(first, end);
    }
    return rest;
  }

 private:
  // Behind all that are there; empty unless `first` is below `end`.
  void AddRange(uint64_t first, uint64_t end) {
    if (first >= end) return;
    ranges_.emplace_hint(ranges_.end(), first, end);
    size_ += end - first;
  }

  std::map<uint64_t, uint64_t> ranges_;
  uint64_t size_ = 0;
};

}  // namespace tapedeck::services::copying
