#include "storage_node/follow/tail.h"

#include <algorithm>
#include <utility>

#include "storage_node/follow/copy_past_caches.h"

namespace tapedeck::storage_node::follow {
namespace {

using dataplane::Block;

}  // namespace

// A slot that two have: the store, as the owner of the Block it was given, and Offers.
struct Tail::SharedSlot final : public dataplane::SlotOwner {
  SharedSlot(Block own, std::shared_ptr<std::atomic<size_t>> slots_out)
      : block(std::move(own)), out(std::move(slots_out)) {
    ++*out;
  }
  ~SharedSlot() override { --*out; }
  // The slot itself goes back with this object: whoever returns it drops the owner, too.
  void ReturnSlot(uint32_t) override {}

  const Block block;
  const std::shared_ptr<std::atomic<size_t>> out;
};

Block Tail::Keep(Block block, size_t ring_slots) {
  if (!followed_) return block;
  const dataplane::BlockHeader header = block.header();
  const std::span<std::byte> memory = block.memory();
  const uint32_t slot = block.slot();
  absl::MutexLock lock(&mutex_);
  newest_ = std::max(newest_, header.sequence);
  if (followers_.empty() || !WithinReach(NearestNext())) return block;
  auto shared = std::make_shared<SharedSlot>(std::move(block), slots_out_);
  const bool spare = *slots_out_ <= ring_slots / 2;
  if (!spare) {
    for (Offer& offer : offers_) offer.held = nullptr;
  }
  // More wait only if the executor hangs, and then most are gone.
  while (offers_.size() > ring_slots) offers_.pop_front();
  offers_.push_back({.slot = shared, .held = spare ? shared : nullptr});
  followers_.begin()->second.executor->Post([tail = shared_from_this()] { tail->CopyNext(); });
  Block given(std::move(shared), slot, memory);
  given.header() = header;
  return given;
}

void Tail::CopyNext() {
  std::shared_ptr<SharedSlot> slot;
  {
    absl::MutexLock lock(&mutex_);
    while (slot == nullptr && !offers_.empty()) {
      slot = offers_.front().slot.lock();
      offers_.pop_front();
    }
  }
  if (slot == nullptr) return;
  std::optional<Block> copy = TakeSlot();
  if (!copy.has_value()) return;
  copy->header() = slot->block.header();
  const std::span<const std::byte> payload = slot->block.payload();
  CopyPastCaches(payload, copy->memory());
  Insert(*std::move(copy));
}

void Tail::Insert(Block copy) {
  const uint64_t sequence = copy.header().sequence;
  auto kept = std::make_shared<const Block>(std::move(copy));
  absl::MutexLock lock(&mutex_);
  if (followed_) kept_[sequence] = std::move(kept);
}

std::optional<Block> Tail::TakeSlot() {
  absl::MutexLock lock(&mutex_);
  if (!followed_) return std::nullopt;
  DropPassed();
  std::optional<Block> free = TakeFree();
  if (!free.has_value() && Grow()) free = TakeFree();
  return free.has_value() ? std::move(free) : TakeOldest();
}

std::optional<Block> Tail::TakeFree() {
  for (const auto& slab : slabs_) {
    std::optional<Block> free = slab->Take();
    if (free.has_value()) return free;
  }
  return std::nullopt;
}

// The follower that is least behind loses nothing: what it still wants is worth more than what is
// newer.
std::optional<Block> Tail::TakeOldest() {
  const uint64_t passed = NearestNext();
  while (!kept_.empty() && kept_.begin()->first < passed) {
    kept_.erase(kept_.begin());
    std::optional<Block> free = TakeFree();
    if (free.has_value()) return free;
  }
  return std::nullopt;
}

bool Tail::Grow() {
  const FollowerOptions& any = followers_.begin()->second;
  std::unique_ptr<dataplane::Memory> memory = any.memory->Take();
  if (memory == nullptr) return false;
  auto slab = dataplane::MemoryPool::Create(std::move(memory), any.block_bytes);
  if (!slab.ok()) return false;  // a limit below the size of one block
  slabs_.push_back(*std::move(slab));
  return true;
}

uint64_t Tail::NearestNext() const {
  uint64_t nearest = 0;
  for (const auto& [number, follower] : followers_) nearest = std::max(nearest, follower.next);
  return nearest;
}

bool Tail::WithinReach(uint64_t next) const {
  const FollowerOptions& any = followers_.begin()->second;
  return newest_ < next + any.memory->limit_bytes() / any.block_bytes;
}

void Tail::DropPassed() {
  uint64_t wanted = NearestNext();
  for (const auto& [number, follower] : followers_) {
    if (WithinReach(follower.next)) wanted = std::min(wanted, follower.next);
  }
  kept_.erase(kept_.begin(), kept_.lower_bound(wanted));
}

std::shared_ptr<const Block> Tail::Find(uint64_t follower, uint64_t sequence) {
  absl::MutexLock lock(&mutex_);
  followers_.at(follower).next = sequence;
  const auto found = kept_.find(sequence);
  if (found != kept_.end()) return found->second;
  if (!WithinReach(NearestNext())) {
    DropPassed();
    if (kept_.empty()) slabs_.clear();
  }
  return nullptr;
}

uint64_t Tail::Attach(FollowerOptions follower) {
  absl::MutexLock lock(&mutex_);
  followers_.emplace(next_follower_, std::move(follower));
  followed_ = !stopped_;
  if (slabs_.empty()) Grow();
  return next_follower_++;
}

void Tail::Detach(uint64_t follower) {
  absl::MutexLock lock(&mutex_);
  followers_.erase(follower);
  if (!followers_.empty()) return;
  followed_ = false;
  offers_.clear();
  kept_.clear();
  slabs_.clear();
}

void Tail::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  followed_ = false;
  offers_.clear();
  kept_.clear();
}

}  // namespace tapedeck::storage_node::follow
