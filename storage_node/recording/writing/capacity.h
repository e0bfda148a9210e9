// The limit of a LUN's space, and the space that it holds or has promised to recordings under way,
// as Footprint counts. Each closed recording has its share under its name: to say it twice changes
// nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::storage_node::recording {

// Any thread.
class Capacity {
 public:
  explicit Capacity(uint64_t limit_bytes) : limit_(limit_bytes) {}  // 0: no limit of its own

  // Of recordings under way. False if it would not fit; nothing is taken then.
  bool Charge(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    const uint64_t after = Sum() + bytes;
    if ((limit_ != 0 && after > limit_) || (narrow_ != 0 && after > narrow_)) return false;
    charged_ += bytes;
    return true;
  }
  void Refund(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    charged_ -= bytes;
  }

  // How the share of a closed recording is known: from the catalog's row alone, from what the
  // members say, or from a row because the members could not be read.
  enum class Known { kByRow, kByFiles, kUnread };
  // The share of a closed recording, which may exceed the limit. It replaces what was said before.
  void Settle(const std::string& recording, uint64_t bytes, Known known) {
    absl::MutexLock lock(&mutex_);
    Put(recording, bytes, known);
  }
  // The share of one that is known by its row alone. False, and nothing changes, if it has another.
  bool Confirm(const std::string& recording, uint64_t bytes, Known known) {
    absl::MutexLock lock(&mutex_);
    const auto it = shares_.find(recording);
    if (it == shares_.end() || it->second.known != Known::kByRow) return false;
    Put(recording, bytes, known);
    return true;
  }
  // One that is closed now: what was charged for it is given back.
  void Close(const std::string& recording, uint64_t charged, uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    charged_ -= charged;
    Put(recording, bytes, Known::kByFiles);
  }
  // One that is written again: its share is charged from now on, and returned.
  uint64_t Reopen(const std::string& recording) {
    absl::MutexLock lock(&mutex_);
    const uint64_t bytes = Take(recording);
    charged_ += bytes;
    return bytes;
  }
  // One that is gone.
  void Forget(const std::string& recording) {
    absl::MutexLock lock(&mutex_);
    Take(recording);
  }

  // Closed recordings that are known by their rows alone, `most` of them.
  std::vector<std::string> KnownByRow(size_t most) const {
    absl::MutexLock lock(&mutex_);
    std::vector<std::string> names;
    if (by_row_ == 0) return names;
    for (const auto& [name, share] : shares_) {
      if (names.size() == most) break;
      if (share.known == Known::kByRow) names.push_back(name);
    }
    return names;
  }
  bool AnyKnownByRow() const {
    absl::MutexLock lock(&mutex_);
    return by_row_ > 0;
  }

  // Until SetLimit no more than that is given out either; false if more is used.
  bool Narrow(uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    if (Sum() > bytes) return false;
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
    return Sum();
  }
  // Of these, what was charged and what the members say: less if rows cannot be compared with them.
  uint64_t sure() const {
    absl::MutexLock lock(&mutex_);
    return charged_ + read_;
  }
  uint64_t limit() const {
    absl::MutexLock lock(&mutex_);
    return limit_;
  }

 private:
  struct Share {
    uint64_t bytes = 0;
    Known known = Known::kByRow;
  };

  uint64_t Sum() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return charged_ + read_ + unread_; }
  uint64_t Take(const std::string& recording) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = shares_.find(recording);
    if (it == shares_.end()) return 0;
    const Share share = it->second;
    shares_.erase(it);
    (share.known == Known::kByFiles ? read_ : unread_) -= share.bytes;
    if (share.known == Known::kByRow) --by_row_;
    return share.bytes;
  }
  void Put(const std::string& recording, uint64_t bytes, Known known)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Take(recording);
    shares_[recording] = {.bytes = bytes, .known = known};
    (known == Known::kByFiles ? read_ : unread_) += bytes;
    if (known == Known::kByRow) ++by_row_;
  }

  mutable absl::Mutex mutex_;
  uint64_t limit_ ABSL_GUARDED_BY(mutex_);
  uint64_t narrow_ ABSL_GUARDED_BY(mutex_) = 0;   // 0: nothing beside the limit
  uint64_t charged_ ABSL_GUARDED_BY(mutex_) = 0;  // for recordings under way
  // Of closed ones: as the members say, and as rows alone do.
  uint64_t read_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t unread_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t by_row_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Share> shares_ ABSL_GUARDED_BY(mutex_);
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
  // Of what a closed recording has, which is written again.
  static Reservation Of(std::shared_ptr<Capacity> capacity, const std::string& recording) {
    const uint64_t bytes = capacity->Reopen(recording);
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
