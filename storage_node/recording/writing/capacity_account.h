// The space that a recording under way takes of its LUN's capacity.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "storage_node/recording/writing/capacity.h"
#include "storage_node/recording/writing/footprint.h"

namespace tapedeck::storage_node::recording {

// One thread. Gives back what it has taken when destroyed, unless Settle was called.
class CapacityAccount {
 public:
  // `reserved` of `capacity` is for `beside`, the bytes of what is no block, and the first blocks.
  CapacityAccount(std::shared_ptr<Capacity> capacity, Reservation reserved,
                  const Footprint& footprint, uint64_t beside)
      : capacity_(std::move(capacity)),
        footprint_(footprint),
        beside_(beside),
        charged_(reserved.TakeOver()) {}
  ~CapacityAccount() { capacity_->Refund(charged_); }
  CapacityAccount(const CapacityAccount&) = delete;
  CapacityAccount& operator=(const CapacityAccount&) = delete;

  // Takes room for a block and for all before it: blocks come in any order, and none may be refused
  // once a later one is kept. False if there is none.
  bool Charge(uint64_t sequence) {
    const uint64_t needed = beside_ + footprint_.OfBlocks(sequence + 1);
    if (needed <= charged_) return true;
    if (!capacity_->Charge(needed - charged_)) return false;
    charged_ = needed;
    return true;
  }

  // The recording is closed with so many bytes, which stay taken; the rest is given back.
  void Settle(const std::string& recording, uint64_t bytes) {
    capacity_->Close(recording, std::exchange(charged_, 0), bytes);
  }

  const Capacity& capacity() const { return *capacity_; }

 private:
  const std::shared_ptr<Capacity> capacity_;
  const Footprint footprint_;
  const uint64_t beside_;
  uint64_t charged_;
};

}  // namespace tapedeck::storage_node::recording
