// What one recording takes of its LUN's capacity while it is written.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "storage_node/capacity.h"

namespace tapedeck::storage_node {

// One thread. Gives back what it has taken when destroyed, unless Settle was called.
class Room {
 public:
  // `reserved` of `capacity` is for the first blocks.
  Room(std::shared_ptr<Capacity> capacity, Reservation reserved, uint64_t block_bytes)
      : capacity_(std::move(capacity)),
        block_bytes_(block_bytes),
        charged_(reserved.TakeOver()),
        charged_blocks_(charged_ / block_bytes) {}
  ~Room() { capacity_->Refund(charged_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Takes room for a block and for all before it: blocks come in any order, and none may be refused
  // once a later one is kept. False if there is none.
  bool Charge(uint64_t sequence, uint64_t payload_bytes) {
    if (sequence < charged_blocks_) {
      const uint64_t rest = block_bytes_ - payload_bytes;
      capacity_->Refund(rest);
      charged_ -= rest;
      return true;
    }
    const uint64_t bytes = (sequence - charged_blocks_) * block_bytes_ + payload_bytes;
    if (!capacity_->Charge(bytes)) return false;
    charged_ += bytes;
    charged_blocks_ = sequence + 1;
    return true;
  }

  // The recording is closed with so many bytes, which stay taken; the rest is given back.
  void Settle(uint64_t bytes) {
    capacity_->Refund(charged_ - bytes);
    charged_ = 0;
  }

  const Capacity& capacity() const { return *capacity_; }

 private:
  const std::shared_ptr<Capacity> capacity_;
  const uint64_t block_bytes_;
  uint64_t charged_;
  uint64_t charged_blocks_;  // the room of every block below is charged
};

}  // namespace tapedeck::storage_node
