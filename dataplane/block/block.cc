#include "dataplane/block/block.h"

namespace tapedeck::dataplane {
namespace {

class NoOwner final : public SlotOwner {
 public:
  void ReturnSlot(uint32_t) override {}
};

}  // namespace

Block Block::Missing(const BlockHeader& header) {
  Block block(std::make_shared<NoOwner>(), 0, {});
  block.header_ = header;
  block.header_.payload_bytes = 0;
  block.header_.crc32c = 0;
  block.header_.flags |= kBlockMissing;
  return block;
}

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
