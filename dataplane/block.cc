#include "dataplane/block.h"

namespace tapedeck::dataplane {

Block& Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  owner_ = std::move(other.owner_);
  slot_ = other.slot_;
  memory_ = std::exchange(other.memory_, {});
  header_ = std::exchange(other.header_, {});
  return *this;
}

void Block::Reset() {
  if (std::shared_ptr<SlotOwner> owner = std::move(owner_)) owner->ReturnSlot(slot_);
  owner_ = nullptr;
}

}  // namespace tapedeck::dataplane
