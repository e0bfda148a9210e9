// Sequences that arrive in any order, as a contiguous watermark and the sequences beyond it.
#pragma once

#include <cstdint>
#include <set>

namespace tapedeck::dataplane {

// One thread. Memory grows with the disorder, not with the length.
class SequenceMark {
 public:
  // False if it was there.
  bool Add(uint64_t sequence) {
    if (sequence < mark_ || !beyond_.insert(sequence).second) return false;
    Advance();
    return true;
  }

  // What lies above stays.
  void Remove(uint64_t sequence) {
    for (; mark_ > sequence; --mark_) beyond_.insert(mark_ - 1);
    beyond_.erase(sequence);
  }

  // Adds everything below.
  void AddBelow(uint64_t sequence) {
    if (sequence <= mark_) return;
    mark_ = sequence;
    beyond_.erase(beyond_.begin(), beyond_.lower_bound(mark_));
    Advance();
  }

  bool Has(uint64_t sequence) const { return sequence < mark_ || beyond_.contains(sequence); }

  // Everything below is there.
  uint64_t mark() const { return mark_; }

  // One more than the highest.
  uint64_t end() const { return beyond_.empty() ? mark_ : *beyond_.rbegin() + 1; }

  // Calls `each(first, count)` for each run of what is not there below end(), in order.
  template <typename Each>
  void ForEachHole(Each each) const {
    uint64_t next = mark_;
    for (const uint64_t sequence : beyond_) {
      if (sequence > next) each(next, sequence - next);
      next = sequence + 1;
    }
  }

 private:
  void Advance() {
    for (; !beyond_.empty() && *beyond_.begin() == mark_; ++mark_) beyond_.erase(beyond_.begin());
  }

  uint64_t mark_ = 0;
  std::set<uint64_t> beyond_;
};

}  // namespace tapedeck::dataplane
