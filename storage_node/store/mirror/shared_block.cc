#include "storage_node/store/mirror/shared_block.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace tapedeck::storage_node::store::mirror {
namespace {

constexpr size_t kPageBytes = 4096;  // of O_DIRECT

// Keeps the block, to which its slot goes back.
class Loan final : public dataplane::SlotOwner {
 public:
  explicit Loan(std::shared_ptr<SharedBlock> block) : block_(std::move(block)) {}
  void ReturnSlot(uint32_t /*slot*/) override {}

 private:
  const std::shared_ptr<SharedBlock> block_;
};

}  // namespace

SharedBlock::SharedBlock(dataplane::Block block) : block_(std::move(block)) {
  const std::span<std::byte> memory = block_.memory();
  const size_t payload = block_.payload().size();
  const size_t end = std::min(memory.size(), (payload + kPageBytes - 1) / kPageBytes * kPageBytes);
  std::ranges::fill(memory.subspan(payload, end - payload), std::byte{0});
}

dataplane::Block SharedBlock::Lend() {
  dataplane::Block loan(std::make_shared<Loan>(shared_from_this()), block_.slot(), block_.memory());
  loan.header() = block_.header();
  return loan;
}

}  // namespace tapedeck::storage_node::store::mirror
