// A Block is a move-only loan of one slot of registered memory plus its header. Destroying it
// returns the slot to its owner; on a receiving side that return is the credit the peer waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace tapedeck::dataplane {

enum BlockFlags : uint32_t {
  // The block could not be read or was never captured: it has no payload and must not be read as
  // zeros.
  kBlockMissing = 1u << 0,
  // Fewer payload bytes than the channel's block size; only the last block of a recording may be
  // so.
  kBlockPartial = 1u << 1,
  // Parts of the payload could not be read or were not what was recorded: those are zeros. Only to
  // a player that has said that it takes such blocks.
  kBlockDamaged = 1u << 2,
  // Something begins at a sample of it, and at another if there are two: `triggers`. Only while it
  // is recorded.
  kBlockTriggered = 1u << 3,
};

// Of the samples of a block that trigger, the first and the last, counted from its first one. No
// block has 2^24 samples.
struct Triggers {
  uint32_t first = 0;
  uint32_t last = 0;
  bool operator==(const Triggers&) const = default;
};

// The capture time of samples of which nobody knows when they were captured. 0 is 1970.
inline constexpr int64_t kTimeUnknown = INT64_MIN;

struct BlockHeader {
  uint64_t recording = 0;     // stream id, unique within a storage node's session
  uint64_t sequence = 0;      // from 0, without holes
  uint64_t sample_index = 0;  // of the block's first sample
  int64_t capture_ns = 0;     // UTC, nanoseconds since the Unix epoch, or kTimeUnknown
  uint32_t payload_bytes = 0;
  uint32_t crc32c = 0;  // of the payload alone
  uint32_t flags = 0;   // BlockFlags, below 2^16
  Triggers triggers;    // of kBlockTriggered; else zeros
  bool operator==(const BlockHeader&) const = default;
};

// Takes slots back. Any thread.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  virtual void ReturnSlot(uint32_t slot) = 0;
};

// Held by one thread at a time. The owner is shared: a disk write may still hold a Block after the
// session that filled it has ended, and the memory must outlive that write.
class Block {
 public:
  Block() = default;
  Block(std::shared_ptr<SlotOwner> owner, uint32_t slot, std::span<std::byte> memory)
      : owner_(std::move(owner)), slot_(slot), memory_(memory) {}
  // A block without payload or slot: kBlockMissing.
  static Block Missing(const BlockHeader& header);

  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept;
  ~Block() { Reset(); }

  bool empty() const { return owner_ == nullptr; }
  uint32_t slot() const { return slot_; }

  BlockHeader& header() { return header_; }
  const BlockHeader& header() const { return header_; }

  // The whole slot, and the part of it that holds payload. Device memory is not readable by the
  // CPU; then these are addresses only.
  std::span<std::byte> memory() const { return memory_; }
  std::span<std::byte> payload() const { return memory_.first(header_.payload_bytes); }

  // Returns the slot now.
  void Reset();

  // Gives the slot up without returning it: the caller keeps the memory and returns it to owner()
  // itself.
  std::shared_ptr<SlotOwner> Detach() { return std::move(owner_); }
  const SlotOwner* owner() const { return owner_.get(); }

 private:
  std::shared_ptr<SlotOwner> owner_;
  uint32_t slot_ = 0;
  std::span<std::byte> memory_;
  BlockHeader header_;
};

}  // namespace tapedeck::dataplane
