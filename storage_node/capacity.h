// How much payload a LUN may hold and holds.
#pragma once

#include <atomic>
#include <cstdint>

namespace tapedeck::storage_node {

// Any thread.
class Capacity {
 public:
  explicit Capacity(uint64_t limit_bytes) : limit_(limit_bytes) {}  // 0: no limit of its own

  // False if it would not fit; nothing is taken then.
  bool Charge(uint64_t bytes) {
    uint64_t used = used_.load();
    do {
      if (limit_ != 0 && used + bytes > limit_) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void Refund(uint64_t bytes) { used_ -= bytes; }
  // For what was there before the node started, which may exceed the limit.
  void Add(uint64_t bytes) { used_ += bytes; }

  uint64_t used() const { return used_; }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_ = 0;
};

}  // namespace tapedeck::storage_node
