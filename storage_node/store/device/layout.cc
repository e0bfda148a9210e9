#include "storage_node/store/device/layout.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "services/model/words/resource_name.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::store::device {

using dataplane::GetLittleEndian;
using dataplane::PutLittleEndian;
namespace {

constexpr uint64_t kSuperblockMagic = 0x314b434f4c424454;  // "TDBLOCK1"
constexpr uint32_t kSlotMagic = 0x53424454;                // "TDBS"
constexpr uint16_t kVersion = 1;
constexpr uint16_t kLive = 1;
constexpr uint16_t kFree = 2;
constexpr uint16_t kDeleting = 3;
constexpr size_t kSlotHeaderBytes = 80;
constexpr size_t kRunBytes = 8;
constexpr size_t kCrcBytes = 4;
constexpr uint32_t kMinSlots = 64;
constexpr uint32_t kMaxSlots = 4096;
constexpr uint64_t kDeviceBytesPerSlot = 64 << 20;
// Its units are counted in 32 bits.
constexpr uint64_t kMaxDeviceBytes = uint64_t{UINT32_MAX} * kUnitBytes;

void PutUuid(std::byte* at, const format::Uuid& uuid) {
  std::copy(uuid.bytes.begin(), uuid.bytes.end(), at);
}

format::Uuid GetUuid(const std::byte* at) {
  format::Uuid uuid;
  std::copy_n(at, uuid.bytes.size(), uuid.bytes.begin());
  return uuid;
}

uint32_t SlotCrc(std::span<const std::byte> bytes, const SlotPlace& place) {
  std::array<std::byte, 24> seed;
  PutUuid(&seed[0], place.stamp);
  PutLittleEndian(&seed[16], place.slot);
  PutLittleEndian(&seed[20], place.copy);
  return dataplane::Crc32cExtend(dataplane::Crc32c(seed), bytes);
}

// Puts one thing behind the other.
class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  void Put(const Runs& runs) {
    for (const Run& run : runs) {
      PutLittleEndian(at_, run.first);
      PutLittleEndian(at_ + 4, run.count);
      at_ += kRunBytes;
    }
  }
  void Put(const std::string& text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

 private:
  std::byte* at_;
};

// Takes them out again.
class Reader {
 public:
  explicit Reader(const std::byte* at) : at_(at) {}
  Runs GetRuns(size_t count) {
    Runs runs(count);
    for (Run& run : runs) {
      run = {.first = GetLittleEndian<uint32_t>(at_), .count = GetLittleEndian<uint32_t>(at_ + 4)};
      at_ += kRunBytes;
    }
    return runs;
  }
  std::string GetText(size_t bytes) {
    std::string text(reinterpret_cast<const char*>(at_), bytes);
    at_ += bytes;
    return text;
  }

 private:
  const std::byte* at_;
};

size_t LengthOf(size_t runs, size_t text) {
  return kSlotHeaderBytes + runs * kRunBytes + text + kCrcBytes;
}

// All runs lie on a device of so many units and have `bytes` in them. That no unit is held twice is
// seen when all slots are known.
bool Hold(const Runs& runs, uint64_t bytes, uint32_t units) {
  uint64_t held = 0;
  for (const Run& run : runs) {
    if (run.count == 0 || uint64_t{run.first} + run.count > units) return false;
    held += run.count;
  }
  return held <= units && bytes <= held * kUnitBytes;
}

uint16_t StateOf(const SlotRecord& record) {
  if (!record.live) return kFree;
  return record.deleting ? kDeleting : kLive;
}

// A slot without a recording says nothing else.
bool IsPossible(const SlotRecord& record, uint32_t units) {
  if (record.generation > format::kMaxGeneration) return false;
  if (!record.live) return true;
  return Hold(record.data, record.data_bytes, units) &&
         Hold(record.index, record.index_bytes, units) &&
         services::CheckId(record.path.channel).ok() &&
         services::CheckId(record.path.recording).ok();
}

}  // namespace

uint32_t Superblock::SlotsFor(uint64_t device_bytes) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(device_bytes / kDeviceBytesPerSlot, kMinSlots, kMaxSlots));
}

uint64_t Superblock::units_offset() const {
  return (SlotOffset(slots, 0) + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
}

uint32_t Superblock::units() const {
  return static_cast<uint32_t>((device_bytes - kTailBytes - units_offset()) / kUnitBytes);
}

Pages EncodeSuperblock(const Superblock& superblock) {
  Pages page(kPageBytes);
  std::byte* bytes = page.bytes().data();
  PutLittleEndian(bytes, kSuperblockMagic);
  PutLittleEndian(bytes + 8, kVersion);
  PutUuid(bytes + 16, superblock.lun);
  PutUuid(bytes + 32, superblock.stamp);
  PutLittleEndian(bytes + 48, superblock.member);
  PutLittleEndian(bytes + 52, static_cast<uint32_t>(kUnitBytes));
  PutLittleEndian(bytes + 56, superblock.slots);
  PutLittleEndian(bytes + 64, superblock.device_bytes);
  PutLittleEndian(bytes + 72, uint16_t{superblock.has_all_slots});
  PutLittleEndian(bytes + kPageBytes - kCrcBytes,
                  dataplane::Crc32c(page.bytes().first(kPageBytes - kCrcBytes)));
  return page;
}

absl::StatusOr<Superblock> DecodeSuperblock(std::span<const std::byte> page) {
  const std::byte* bytes = page.data();
  if (GetLittleEndian<uint64_t>(bytes) != kSuperblockMagic) {
    return absl::NotFoundError("no superblock");
  }
  const auto found = GetLittleEndian<uint32_t>(bytes + kPageBytes - kCrcBytes);
  if (found != dataplane::Crc32c(page.first(kPageBytes - kCrcBytes))) {
    return absl::DataLossError("superblock damaged");
  }
  const auto version = GetLittleEndian<uint16_t>(bytes + 8);
  const auto unit = GetLittleEndian<uint32_t>(bytes + 52);
  if (version != kVersion || unit != kUnitBytes) {
    return absl::DataLossError(absl::StrCat("superblock of version ", version, " and units of ",
                                            unit, " bytes; this build reads version ", kVersion,
                                            " and units of ", kUnitBytes));
  }
  const Superblock superblock{.lun = GetUuid(bytes + 16),
                              .stamp = GetUuid(bytes + 32),
                              .member = GetLittleEndian<uint32_t>(bytes + 48),
                              .slots = GetLittleEndian<uint32_t>(bytes + 56),
                              .device_bytes = GetLittleEndian<uint64_t>(bytes + 64),
                              .has_all_slots = GetLittleEndian<uint16_t>(bytes + 72) == 1};
  if (superblock.device_bytes > kMaxDeviceBytes ||
      superblock.slots != Superblock::SlotsFor(superblock.device_bytes) ||
      superblock.device_bytes < superblock.units_offset() + kTailBytes ||
      superblock.member >= format::kMaxMembers) {
    return absl::DataLossError(absl::StrCat("superblock of member ", superblock.member, " with ",
                                            superblock.slots, " slots on ", superblock.device_bytes,
                                            " bytes: no LUN has these"));
  }
  return superblock;
}

uint32_t UnitsOf(const Runs& runs) {
  uint32_t units = 0;
  for (const Run& run : runs) units += run.count;
  return units;
}

void Append(Runs* runs, const Runs& more) {
  for (const Run& run : more) {
    if (!runs->empty() && runs->back().first + runs->back().count == run.first) {
      runs->back().count += run.count;
    } else {
      runs->push_back(run);
    }
  }
}

Runs CutTo(Runs* runs, uint32_t units) {
  Runs kept, cut;
  for (const Run& run : *runs) {
    const uint32_t here = std::min(units, run.count);
    units -= here;
    if (here > 0) kept.push_back({.first = run.first, .count = here});
    if (here < run.count) cut.push_back({.first = run.first + here, .count = run.count - here});
  }
  *runs = std::move(kept);
  return cut;
}

absl::StatusOr<Pages> EncodeSlot(const SlotRecord& record, const SlotPlace& place) {
  const std::string& channel = record.path.channel;
  const std::string& recording = record.path.recording;
  const size_t length = LengthOf(record.data.size() + record.index.size(),
                                 channel.size() + recording.size() + record.manifest.size());
  if (length > kSlotBytes) {
    return disk::MemberFull(
        "", absl::StrCat("recording ", channel, "/", recording, ": its manifest of ",
                         record.manifest.size(), " bytes and its ",
                         record.data.size() + record.index.size(),
                         " runs of units take more than a slot's ", kSlotBytes,
                         " bytes: too many separate gaps; start another recording"));
  }
  Pages pages(length);
  std::byte* bytes = pages.bytes().data();
  PutLittleEndian(bytes, kSlotMagic);
  PutLittleEndian(bytes + 4, kVersion);
  PutLittleEndian(bytes + 6, StateOf(record));
  PutLittleEndian(bytes + 8, record.generation);
  PutUuid(bytes + 16, place.stamp);
  PutLittleEndian(bytes + 32, place.slot);
  PutLittleEndian(bytes + 36, place.copy);
  PutLittleEndian(bytes + 40, static_cast<uint32_t>(length));
  PutLittleEndian(bytes + 44, static_cast<uint32_t>(record.manifest.size()));
  PutLittleEndian(bytes + 48, static_cast<uint32_t>(record.data.size()));
  PutLittleEndian(bytes + 52, static_cast<uint32_t>(record.index.size()));
  PutLittleEndian(bytes + 56, static_cast<uint32_t>(channel.size()));
  PutLittleEndian(bytes + 60, static_cast<uint32_t>(recording.size()));
  PutLittleEndian(bytes + 64, record.data_bytes);
  PutLittleEndian(bytes + 72, record.index_bytes);
  Writer writer(bytes + kSlotHeaderBytes);
  writer.Put(record.data);
  writer.Put(record.index);
  writer.Put(channel);
  writer.Put(recording);
  writer.Put(record.manifest);
  PutLittleEndian(bytes + length - kCrcBytes,
                  SlotCrc(pages.bytes().first(length - kCrcBytes), place));
  return pages;
}

size_t SlotLength(std::span<const std::byte> first_page, const SlotPlace& place) {
  const std::byte* bytes = first_page.data();
  const auto length = GetLittleEndian<uint32_t>(bytes + 40);
  if (GetLittleEndian<uint32_t>(bytes) != kSlotMagic || GetUuid(bytes + 16) != place.stamp ||
      length < LengthOf(0, 0) || length > kSlotBytes) {
    return 0;
  }
  return length;
}

absl::StatusOr<SlotRecord> DecodeSlot(std::span<const std::byte> bytes, const SlotPlace& place,
                                      uint32_t units) {
  const absl::Status damaged =
      absl::DataLossError(absl::StrCat("slot ", place.slot, " copy ", place.copy, ": damaged"));
  const size_t length = SlotLength(bytes, place);
  const std::byte* at = bytes.data();
  // A device that fails may have given another length before.
  if (length == 0 || length > bytes.size() ||
      GetLittleEndian<uint32_t>(at + length - kCrcBytes) !=
          SlotCrc(bytes.first(length - kCrcBytes), place)) {
    return damaged;
  }
  if (const auto version = GetLittleEndian<uint16_t>(at + 4); version != kVersion) {
    return absl::DataLossError(absl::StrCat("slot ", place.slot, ": version ", version,
                                            " is not known; this build reads ", kVersion));
  }
  const size_t manifest = GetLittleEndian<uint32_t>(at + 44);
  const size_t data = GetLittleEndian<uint32_t>(at + 48);
  const size_t index = GetLittleEndian<uint32_t>(at + 52);
  const size_t channel = GetLittleEndian<uint32_t>(at + 56);
  const size_t recording = GetLittleEndian<uint32_t>(at + 60);
  if (LengthOf(data + index, channel + recording + manifest) != length) return damaged;
  const auto state = GetLittleEndian<uint16_t>(at + 6);
  if (state != kLive && state != kFree && state != kDeleting) return damaged;
  Reader reader(at + kSlotHeaderBytes);
  SlotRecord record{.generation = GetLittleEndian<uint64_t>(at + 8),
                    .live = state != kFree,
                    .deleting = state == kDeleting,
                    .data_bytes = GetLittleEndian<uint64_t>(at + 64),
                    .index_bytes = GetLittleEndian<uint64_t>(at + 72)};
  record.data = reader.GetRuns(data);
  record.index = reader.GetRuns(index);
  record.path.channel = reader.GetText(channel);
  record.path.recording = reader.GetText(recording);
  record.manifest = reader.GetText(manifest);
  if (!IsPossible(record, units)) {
    return absl::DataLossError(absl::StrCat("slot ", place.slot, " copy ", place.copy,
                                            ": its units, bytes or names fit no recording here"));
  }
  return record;
}

}  // namespace tapedeck::storage_node::store::device
