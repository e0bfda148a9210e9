// The space that a recording under way takes of its LUN, and where the recording ends if a block
// has none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/writing/block_limits.h"
#include "storage_node/recording/writing/capacity.h"
#include "storage_node/recording/writing/end_of_space.h"
#include "storage_node/recording/writing/footprint.h"
#include "storage_node/store/layout.h"

namespace tapedeck::storage_node::recording {

// What one recording takes of its LUN's capacity while it is written.
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

// Part of a writer, on its executor. Gives the space back when it goes before Settle: whoever
// salvages the recording takes it again.
class RecordingSpace {
 public:
  struct Terms {
    std::string recording;  // its name
    std::shared_ptr<Capacity> capacity;
    Reservation reserved;  // of `capacity`, for the first blocks
    store::Layout layout;  // of the LUN's store
  };
  // `received` and `on_late` are those of EndOfSpace.
  RecordingSpace(Terms terms, const format::Manifest& manifest, dataplane::Executor& executor,
                 std::function<uint64_t()> received, std::function<void()> on_late)
      : recording_(std::move(terms.recording)),
        footprint_(terms.layout, manifest.block_bytes, manifest.members),
        account_(std::move(terms.capacity), std::move(terms.reserved), footprint_,
                 footprint_.OfManifest(manifest)),
        end_(executor, std::move(received), std::move(on_late)) {}

  // For a block and all before it. False if there is none: the recording ends before that block.
  bool Take(uint64_t sequence) {
    if (!end_.Excludes(sequence) && account_.Charge(sequence)) return true;
    end_.Set(sequence, Full(recording_, account_.capacity()));
    return false;
  }

  // RESOURCE_EXHAUSTED (LUN_FULL) once no block before that end is waited for any more.
  absl::Status end() const { return end_.status(); }

  // The recording is closed so: what it takes stays taken, the rest is given back.
  void Settle(const format::Manifest& manifest) {
    account_.Settle(recording_, footprint_.Of(manifest));
  }

 private:
  const std::string recording_;
  const Footprint footprint_;
  CapacityAccount account_;
  EndOfSpace end_;
};

}  // namespace tapedeck::storage_node::recording
