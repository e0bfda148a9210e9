// How much a LUN may hold, and holds or has promised to recordings under way, as Footprint counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::storage_node::recording {

// Any thread.
class Capacity {
 public:
  explicit Capacity(uint64_t limit_bytes) : limit_(limit_bytes) {}  // 0: no limit of its own

  // False if it would not fit; nothing is taken then.
  bool Charge(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    const uint64_t after = used_ + bytes;
    if ((limit_ != 0 && after > limit_) || (narrow_ != 0 && after > narrow_)) return false;
    used_ = after;
    return true;
  }
  void Refund(uint64_t bytes) { Change(bytes, 0); }
  // For what is there anyway, e.g. from before the node started, which may exceed the limit.
  void Add(uint64_t bytes) { Change(0, bytes); }
  // What took `before` takes `after` now.
  void Change(uint64_t before, uint64_t after) {
    absl::MutexLock lock(&mutex_);
    used_ += after - before;  // modulo 2^64
  }

  // Until SetLimit no more than that is given out either; false if more is used.
  bool Narrow(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    if (used_ > bytes) return false;
    narrow_ = bytes;
    return true;
  }
  void SetLimit(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    limit_ = bytes;
    narrow_ = 0;
  }

  uint64_t used() const {
    absl::MutexLock lock(&mutex_);
    return used_;
  }
  uint64_t limit() const {
    absl::MutexLock lock(&mutex_);
    return limit_;
  }

 private:
  mutable absl::Mutex mutex_;
  uint64_t limit_ ABSL_GUARDED_BY(mutex_);
  uint64_t narrow_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: nothing beside the limit
  uint64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
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
  // Of what is charged already, by what is there.
  static Reservation Of(std::shared_ptr<Capacity> capacity, uint64_t bytes) {
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

  // `more` is of the same capacity, or empty.
  void Add(Reservation more) {
    if (capacity_ == nullptr) capacity_ = std::move(more.capacity_);
    bytes_ += more.TakeOver();
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
