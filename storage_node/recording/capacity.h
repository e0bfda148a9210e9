// How much a LUN may hold, and holds or has promised to recordings under way, as Footprint counts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tapedeck::storage_node::recording {

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
  // For what is there anyway, e.g. from before the node started, which may exceed the limit.
  void Add(uint64_t bytes) { used_ += bytes; }
  // What took `before` takes `after` now.
  void Change(uint64_t before, uint64_t after) { used_ += after - before; }  // modulo 2^64

  uint64_t used() const { return used_; }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_ = 0;
};

// Room charged in advance: given back with the object, unless somebody has taken it over.
class Reservation {
 public:
  Reservation() = default;
  // None if it does not fit.
  static std::optional<Reservation> Make(std::shared_ptr<Capacity> capacity, uint64_t bytes) {
    if (!capacity->Charge(bytes)) return std::nullopt;
    return Reservation(std::move(capacity), bytes);
  }
  Reservation(Reservation&& other) noexcept
      : capacity_(std::move(other.capacity_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() {
    if (bytes_ > 0) capacity_->Refund(bytes_);
  }

  // Of these, `bytes` or as many as there are, as a reservation of their own.
  Reservation Split(uint64_t bytes) {
    const uint64_t taken = std::min(bytes, bytes_);
    bytes_ -= taken;
    return Reservation(capacity_, taken);
  }

  // The caller now refunds them.
  uint64_t TakeOver() { return std::exchange(bytes_, 0); }

 private:
  Reservation(std::shared_ptr<Capacity> capacity, uint64_t bytes)
      : capacity_(std::move(capacity)), bytes_(bytes) {}

  std::shared_ptr<Capacity> capacity_;
  uint64_t bytes_ = 0;
};

}  // namespace tapedeck::storage_node::recording
