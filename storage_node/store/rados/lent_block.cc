#include "storage_node/store/rados/lent_block.h"

#include <algorithm>
#include <utility>

namespace tapedeck::storage_node::store::rados {
namespace {

// There is always one reference: the one in `lendings`.
bool Held(const Lendings& lendings) {
  return std::any_of(lendings.begin(), lendings.end(),
                     [](const ceph::bufferptr& lending) { return lending.raw_nref() > 1; });
}

}  // namespace

void LentShelf::Keep(dataplane::Block block, Lendings lendings) {
  absl::MutexLock lock(&mutex_);
  kept_.push_back({std::move(block), std::move(lendings)});
  count_ = kept_.size();
}

// Slots go back without the lock: their ring may call who waits for one.
void LentShelf::Sweep() {
  if (count_ == 0) return;
  std::vector<LentSlot> free;
  {
    absl::MutexLock lock(&mutex_);
    const auto held = std::partition(kept_.begin(), kept_.end(),
                                     [](const LentSlot& each) { return Held(each.lendings); });
    free.assign(std::make_move_iterator(held), std::make_move_iterator(kept_.end()));
    kept_.erase(held, kept_.end());
    count_ = kept_.size();
  }
}

librados::bufferlist LentBlock::Lend() {
  const std::span<std::byte> payload = block_.payload();
  lendings_.emplace_back(ceph::buffer::create_static(static_cast<unsigned>(payload.size()),
                                                     reinterpret_cast<char*>(payload.data())));
  librados::bufferlist list;
  list.push_back(lendings_.back());
  return list;
}

bool LentBlock::held() const { return Held(lendings_); }

dataplane::Block LentBlock::Take() {
  if (block_.empty() || !held()) return std::move(block_);
  shelf_->Keep(std::move(block_), std::exchange(lendings_, {}));
  return {};
}

}  // namespace tapedeck::storage_node::store::rados
