// A superblock and slots of a block device, as they came and with the check values that they should
// have.
#include <array>

#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "storage_node/store/device/layout.h"
#include "storage_node/store/device/space.h"
#include "tests/fuzz/input.h"

namespace tapedeck::storage_node::store::device {
namespace {

using dataplane::PutLittleEndian;
using fuzz::Require;

constexpr uint32_t kUnits = 1000;
constexpr size_t kSlotHead = 80;

void TrySuperblock(fuzz::Input& input) {
  Pages page(kPageBytes);
  std::ranges::copy(input.Padded(kPageBytes), page.bytes().begin());
  (void)DecodeSuperblock(page.bytes()).ok();
  PutLittleEndian(&page.bytes()[kPageBytes - 4],
                  dataplane::Crc32c(page.bytes().first(kPageBytes - 4)));
  const auto found = DecodeSuperblock(page.bytes());
  if (!found.ok()) return;
  Require(found->UnitOffset(found->units()) <= found->device_bytes);
  Require(found->SlotOffset(found->slots, 0) <= found->units_offset());
}

void TrySlot(fuzz::Input& input) {
  const SlotPlace place{};
  const size_t bytes = std::max<size_t>(kPageBytes, input.left());
  Pages pages(bytes);
  std::ranges::copy(input.Padded(bytes), pages.bytes().begin());
  (void)DecodeSlot(pages.bytes(), place, kUnits).ok();
  std::byte* const at = pages.bytes().data();
  PutLittleEndian(at, uint32_t{0x53424454});
  PutLittleEndian(at + 4, uint16_t{1});
  std::fill_n(at + 16, 24, std::byte{0});
  const auto length = dataplane::GetLittleEndian<uint32_t>(at + 40);
  if (length < kSlotHead + 4 || length > pages.bytes().size()) return;
  const std::array<std::byte, 24> seed{};
  PutLittleEndian(at + length - 4, dataplane::Crc32cExtend(dataplane::Crc32c(seed),
                                                           pages.bytes().first(length - 4)));
  const auto slot = DecodeSlot(pages.bytes(), place, kUnits);
  if (!slot.ok() || !slot->live) return;
  // As a store adopts it: no unit is held that is not on the device, or twice.
  Space space(kUnits);
  Runs units = slot->data;
  Append(&units, slot->index);
  Require(UnitsOf(units) == UnitsOf(slot->data) + UnitsOf(slot->index));
  if (!space.Take(units)) return;
  Require(space.free_units() == kUnits - UnitsOf(units));
  Require(slot->data_bytes <= UnitsOf(slot->data) * kUnitBytes);
  Require(slot->index_bytes <= UnitsOf(slot->index) * kUnitBytes);
  Require(*DecodeSlot(EncodeSlot(*slot, place)->bytes(), place, kUnits) == *slot);
}

}  // namespace
}  // namespace tapedeck::storage_node::store::device

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tapedeck::fuzz::Input input(data, size);
  if (input.Number<uint8_t>() % 2 == 0) {
    tapedeck::storage_node::store::device::TrySlot(input);
  } else {
    tapedeck::storage_node::store::device::TrySuperblock(input);
  }
  return 0;
}
