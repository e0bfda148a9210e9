#include <algorithm>

#include "tests/disaster/reader.h"
#include "tests/disaster/record.h"

namespace tapedeck::disaster {
namespace {

constexpr uint64_t kUnit = 4 << 20;
constexpr uint64_t kSlotCopy = 64 << 10;
constexpr uint64_t kSlotsAt = 1 << 20;
constexpr uint32_t kSlots = 64;  // of a device of 64 MiB to 4 GiB

std::optional<Slot> ReadSlotCopy(const Bytes& device, const std::string& stamp, uint32_t number,
                                 uint32_t copy) {
  const Range range = SlotRange(number, copy);
  const std::string head = device.Read(range.offset, 80);
  if (head.size() < 80 || head.substr(0, 4) != "TDBS" || head.substr(16, 16) != stamp) return {};
  const uint64_t length = Number(head, 40, 4);
  if (length < 84 || length > kSlotCopy) return {};
  const std::string text = device.Read(range.offset, length);
  if (text.size() != length) return {};
  std::string place = stamp;
  for (const uint32_t word : {number, copy}) Put(&place, word, 4);
  if (Number(text, length - 4, 4) != Crc(place + text.substr(0, length - 4))) return {};
  Slot slot{.number = number,
            .generation = Number(text, 8, 8),
            .live = Number(text, 6, 2) == 1,
            .data_bytes = Number(text, 64, 8),
            .index_bytes = Number(text, 72, 8)};
  size_t at = 80;
  for (auto* units : {&slot.data, &slot.index}) {
    const uint64_t runs = Number(text, units == &slot.data ? 48 : 52, 4);
    for (uint64_t run = 0; run < runs && at + 8 <= length; ++run, at += 8) {
      const auto first = static_cast<uint32_t>(Number(text, at, 4));
      const auto count = static_cast<uint32_t>(Number(text, at + 4, 4));
      for (uint32_t unit = 0; unit < count; ++unit) units->push_back(first + unit);
    }
  }
  const auto take = [&](uint64_t bytes) {
    at += bytes;
    return text.substr(at - bytes, bytes);
  };
  slot.channel = take(Number(text, 56, 4));
  slot.id = take(Number(text, 60, 4));
  slot.manifest = take(Number(text, 44, 4));
  return slot;
}

Bytes Gather(const Bytes& device, const std::vector<uint32_t>& units, uint64_t bytes) {
  Bytes all;
  for (size_t i = 0; i < units.size(); ++i) {
    all.Share(device, UnitRange(units[i]).offset, kUnit, i * kUnit);
  }
  all.Resize(bytes);
  return all;
}

// Of the superblock, or of its copy in the last page; empty: neither is sound.
std::string StampOf(const Bytes& bytes) {
  for (const uint64_t at : {uint64_t{0}, bytes.size() - std::min(bytes.size(), kPage)}) {
    const std::string super = bytes.Read(at, kPage);
    if (super.size() < kPage || super.substr(0, 8) != "TDBLOCK1") continue;
    if (Number(super, kPage - 4, 4) != Crc(super.substr(0, kPage - 4))) continue;
    return super.substr(32, 16);
  }
  return "";
}

}  // namespace

Range SlotRange(uint32_t slot, uint32_t copy) {
  return {.offset = kSlotsAt + (uint64_t{slot} * 2 + copy) * kSlotCopy, .bytes = kSlotCopy};
}

Range UnitRange(uint32_t unit) {
  const uint64_t first = (SlotRange(kSlots, 0).offset + kUnit - 1) / kUnit * kUnit;
  return {.offset = first + unit * kUnit, .bytes = kUnit};
}

std::map<uint32_t, std::vector<Slot>> SoundSlotsOf(const Image& image) {
  std::map<uint32_t, std::vector<Slot>> slots;
  for (uint32_t member = 0; member < 8; ++member) {
    const auto device = image.find("m" + std::to_string(member));
    if (device == image.end() || device->second.kind != Node::Kind::kFile) continue;
    const Bytes& bytes = device->second.bytes;
    const std::string stamp = StampOf(bytes);
    if (stamp.empty()) continue;
    for (uint32_t number = 0; number < kSlots; ++number) {
      std::optional<Slot> newest;
      for (const uint32_t copy : {0u, 1u}) {
        auto slot = ReadSlotCopy(bytes, stamp, number, copy);
        if (slot.has_value() && (!newest.has_value() || slot->generation > newest->generation)) {
          newest = std::move(slot);
        }
      }
      if (newest.has_value()) slots[member].push_back(*std::move(newest));
    }
  }
  return slots;
}

std::map<uint32_t, std::vector<Slot>> SlotsOf(const Image& image) {
  auto slots = SoundSlotsOf(image);
  for (auto& [member, all] : slots) {
    std::erase_if(all, [](const Slot& slot) { return !slot.live; });
  }
  return slots;
}

Parts PartsAt(const Image& image, const std::map<uint32_t, std::vector<Slot>>& slots) {
  Parts parts;
  for (const auto& [member, all] : slots) {
    const auto device = image.find("m" + std::to_string(member));
    if (device == image.end()) continue;
    const Bytes& bytes = device->second.bytes;
    for (const Slot& slot : all) {
      Part part{.member = member, .channel = slot.channel, .id = slot.id};
      part.index = Gather(bytes, slot.index, std::min(slot.index_bytes, slot.index.size() * kUnit));
      part.data = Gather(bytes, slot.data, std::min(slot.data_bytes, slot.data.size() * kUnit));
      part.manifest_text = slot.manifest;
      part.manifest = ReadManifest(slot.manifest);
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace tapedeck::disaster
