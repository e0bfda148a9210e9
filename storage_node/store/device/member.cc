#include "storage_node/store/device/member.h"

#include <sys/random.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/format/config.h"
#include "storage_node/format/lun_note.h"
#include "storage_node/store/device/note.h"
#include "storage_node/store/device/table.h"

namespace tapedeck::storage_node::store::device {
namespace {

struct Signature {
  absl::string_view what;
  size_t offset;
  absl::string_view magic;
};

// As blkid(8) knows them. The partition table's boot signature comes last: boot sectors of file
// systems have it too.
constexpr Signature kSignatures[] = {
    {"a device LUN of Tapedeck", 0, "TDBLOCK1"},
    {"an ext2, ext3 or ext4 file system", 1080, "\x53\xef"},
    {"an XFS file system", 0, "XFSB"},
    {"a btrfs file system", 65600, "_BHRfS_M"},
    {"an exFAT file system", 3, "EXFAT   "},
    {"an NTFS file system", 3, "NTFS    "},
    {"a LUKS volume", 0, "LUKS\xba\xbe"},
    {"an LVM physical volume", 512, "LABELONE"},
    {"an LVM physical volume", 0, "LABELONE"},
    {"a Linux RAID member", 4096, "\xfc\x4e\x2b\xa9"},
    {"a swap area", 4086, "SWAPSPACE2"},
    {"a GPT partition table", 512, "EFI PART"},
    {"a GPT partition table", 4096, "EFI PART"},
    {"an MBR partition table or boot sector", 510, "\x55\xaa"},
};
constexpr absl::string_view kGpt = "EFI PART";

bool Has(std::span<const std::byte> bytes, size_t offset, absl::string_view magic) {
  return offset + magic.size() <= bytes.size() &&
         std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
}

size_t FirstNonZero(std::span<const std::byte> bytes) {
  const auto nonzero = [](std::byte b) { return b != std::byte{0}; };
  return static_cast<size_t>(std::find_if(bytes.begin(), bytes.end(), nonzero) - bytes.begin());
}

// `head`: the first kHeadBytes of the device, `tail`: its last kTailBytes. Empty if both are zeros;
// else what was found and where, e.g. "an ext2, ext3 or ext4 file system at byte 1080".
std::string WhatIsThere(std::span<const std::byte> head, std::span<const std::byte> tail) {
  for (const Signature& signature : kSignatures) {
    if (Has(head, signature.offset, signature.magic)) {
      return absl::StrCat(signature.what, " at byte ", signature.offset);
    }
  }
  for (const size_t sector : {size_t{512}, size_t{4096}}) {
    if (Has(tail, tail.size() - sector, kGpt)) return "the backup of a GPT partition table";
  }
  if (Has(tail, tail.size() - 4096, kSignatures[0].magic)) {
    return "the second superblock of a device LUN of Tapedeck";
  }
  if (const size_t at = FirstNonZero(head); at < head.size()) {
    return absl::StrCat("data that is not zero at byte ", at);
  }
  if (const size_t at = FirstNonZero(tail); at < tail.size()) {
    return absl::StrCat("data that is not zero at byte ", at, " of its last ", tail.size());
  }
  return "";
}

uint64_t Random() {
  uint64_t value = 0;
  // Up to 256 bytes come whole and without error once the system has booted: getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&value, sizeof(value), 0);
  return value;
}

absl::Status WriteText(const Device& device, absl::string_view text, uint64_t offset) {
  Pages pages(text.size());
  std::memcpy(pages.bytes().data(), text.data(), text.size());
  return device.Write(pages.bytes(), offset);
}

// For whoever finds the device in use.
absl::Status WriteHolder(const Device& device) {
  return WriteText(device, disk::HolderText(), kHolderOffset);
}

absl::Status WriteLun(const Device& device, const services::Lun& lun, uint32_t number) {
  const std::string text = format::EncodeLun(lun, number);
  if (text.size() > kLunBytes) {
    return disk::Unusable(device.path(),
                          "the LUN's description is too long; give its members shorter paths",
                          absl::StatusCode::kInvalidArgument);
  }
  return WriteText(device, text, kLunOffset);
}

// The one at the start, or its copy.
absl::StatusOr<Superblock> ReadSuperblock(const Device& device) {
  Pages page(kPageBytes);
  TD_RETURN_IF_ERROR(device.Read(page.bytes(), 0));
  auto first = DecodeSuperblock(page.bytes());
  if (first.ok()) return first;
  TD_RETURN_IF_ERROR(device.Read(page.bytes(), device.bytes() - kPageBytes));
  auto copy = DecodeSuperblock(page.bytes());
  return copy.ok() ? copy : first;
}

// As CreateMember wrote it.
absl::StatusOr<format::LunMember> ReadLun(const Device& device) {
  Pages pages(kLunBytes);
  TD_RETURN_IF_ERROR(device.Read(pages.bytes(), kLunOffset));
  const absl::string_view text(reinterpret_cast<const char*>(pages.bytes().data()), kLunBytes);
  return format::DecodeLunMember(text.substr(0, text.find('\0')));
}

// The making of this member of the LUN was cut short, before it was one.
bool IsOnlyBegun(const Device& device, const services::Lun& lun, uint32_t number) {
  if (ReadSuperblock(device).ok()) return false;
  const auto begun = ReadLun(device);
  return begun.ok() && begun->lun.uid == lun.uid && begun->member == number;
}

absl::Status CheckEmpty(const Device& device) {
  Pages head(kHeadBytes), tail(kTailBytes);
  TD_RETURN_IF_ERROR(device.Read(head.bytes(), 0));
  TD_RETURN_IF_ERROR(device.Read(tail.bytes(), device.bytes() - kTailBytes));
  const std::string found = WhatIsThere(head.bytes(), tail.bytes());
  if (found.empty()) return absl::OkStatus();
  const std::string& path = device.path();
  if (ReadSuperblock(device).ok()) {
    return disk::Unusable(path, absl::StrCat("it holds ", found,
                                             ", so it is left alone. Use another device; to "
                                             "use that LUN here, run: tapectl lun attach --member ",
                                             path));
  }
  return disk::Unusable(path, absl::StrCat("it holds ", found,
                                           ", so it is left alone. Use another device; or, "
                                           "if that may be lost, run: wipefs -a ",
                                           path, " && blkdiscard -z ", path,
                                           " (a file: create it again with truncate)"));
}

absl::StatusOr<Superblock> FindSuperblock(const Device& device) {
  auto found = ReadSuperblock(device);
  if (found.ok()) return found;
  return disk::Unusable(device.path(), absl::StrCat("it holds no LUN (", found.status().message(),
                                                    "); is it the right device?"));
}

// A copy of the device that has become a LUN of its own has the same superblock. What cannot be
// read vouches for nobody, and says nothing against the device either.
absl::Status CheckNote(Device& device, const Superblock& superblock, const services::Lun& lun) {
  const auto note = DeviceNotebook(device, superblock).ReadNote();
  if (!note.ok() || note->generation == 0) return absl::OkStatus();
  const auto said = format::DecodeLunNote(note->text);
  if (!said.ok() || said->lun.uid == lun.uid) return absl::OkStatus();
  return disk::Unusable(device.path(),
                        absl::StrCat("it belongs to ", said->lun.name, " (", said->lun.uid,
                                     "), not to ", lun.name, " (", lun.uid, ")"));
}

absl::Status WriteSuperblocks(const Device& device, const Pages& page,
                              const Superblock& superblock) {
  TD_RETURN_IF_ERROR(device.Write(page.bytes(), superblock.end_copy_offset()));
  return device.Write(page.bytes(), 0);
}

absl::Status CheckSuperblock(const Superblock& found, const format::Uuid& uid,
                             const services::Lun& lun, uint32_t number, const Device& device) {
  if (found.lun != uid || found.member != number) {
    return disk::Unusable(
        device.path(), absl::StrCat("it is member ", found.member, " of LUN ", found.lun.ToString(),
                                    ", not member ", number, " of ", lun.name, " (", lun.uid,
                                    "); name members by /dev/disk/by-id, which stays the same"));
  }
  if (found.device_bytes <= device.bytes()) return absl::OkStatus();
  return disk::Unusable(
      device.path(), absl::StrCat("it has ", device.bytes(), " bytes, but had ", found.device_bytes,
                                  " when the LUN was created; restore that size"));
}

}  // namespace

absl::StatusOr<Member> CreateMember(std::unique_ptr<Device> device, const services::Lun& lun,
                                    uint32_t number) {
  TD_ASSIGN_OR_RETURN(const format::Uuid uid, format::Uuid::Parse(lun.recorded_uid()));
  if (!IsOnlyBegun(*device, lun, number)) TD_RETURN_IF_ERROR(CheckEmpty(*device));
  const Superblock superblock{.lun = uid,
                              .stamp = format::Uuid::Make(Random),
                              .member = number,
                              .slots = Superblock::SlotsFor(device->bytes()),
                              .device_bytes = device->bytes(),
                              .has_all_slots = true};
  // What says whose it is goes first, and the superblock at the start last: with it the member is
  // made.
  TD_RETURN_IF_ERROR(WriteLun(*device, lun, number));
  TD_RETURN_IF_ERROR(device->Flush());
  TD_RETURN_IF_ERROR(WriteHolder(*device));
  TD_RETURN_IF_ERROR(
      DeviceNotebook(*device, superblock)
          .WriteNote({.generation = 1, .text = format::EncodeLunNote({.lun = lun})}));
  TD_RETURN_IF_ERROR(SlotTable::WriteAllFree(*device, superblock));
  TD_RETURN_IF_ERROR(WriteSuperblocks(*device, EncodeSuperblock(superblock), superblock));
  TD_RETURN_IF_ERROR(device->Flush());
  return Member{.device = std::move(device), .superblock = superblock};
}

absl::StatusOr<Member> OpenMember(std::unique_ptr<Device> device, const services::Lun& lun,
                                  uint32_t number) {
  TD_ASSIGN_OR_RETURN(const format::Uuid uid, format::Uuid::Parse(lun.recorded_uid()));
  const auto found = FindSuperblock(*device);
  TD_RETURN_IF_ERROR(found.status());
  TD_RETURN_IF_ERROR(CheckSuperblock(*found, uid, lun, number, *device));
  TD_RETURN_IF_ERROR(CheckNote(*device, *found, lun));
  TD_RETURN_IF_ERROR(WriteHolder(*device));
  return Member{.device = std::move(device), .superblock = *found};
}

absl::StatusOr<format::LunMember> DescribedBy(Device& device) {
  TD_ASSIGN_OR_RETURN(const Superblock superblock, FindSuperblock(device));
  format::LunMember member{.member = superblock.member};
  TD_ASSIGN_OR_RETURN(const Note note, DeviceNotebook(device, superblock).ReadNote());
  if (note.generation > 0) {
    TD_ASSIGN_OR_RETURN(format::LunNote said, format::DecodeLunNote(note.text));
    member.lun = std::move(said.lun);
  } else {
    TD_ASSIGN_OR_RETURN(const format::LunMember made, ReadLun(device));
    member.lun = made.lun;
  }
  if (member.lun.recorded_uid() == superblock.lun.ToString()) return member;
  return absl::DataLossError(absl::StrCat(device.path(), ": its superblock is of LUN ",
                                          superblock.lun.ToString(), ", its description of ",
                                          member.lun.recorded_uid()));
}

absl::Status Describe(Device& device, const services::Lun& lun, uint32_t number) {
  TD_ASSIGN_OR_RETURN(const format::Uuid uid, format::Uuid::Parse(lun.recorded_uid()));
  TD_ASSIGN_OR_RETURN(const Superblock superblock, FindSuperblock(device));
  TD_RETURN_IF_ERROR(CheckSuperblock(superblock, uid, lun, number, device));
  DeviceNotebook notebook(device, superblock);
  return store::Describe(notebook, lun);
}

absl::Status RemoveMember(std::unique_ptr<Device> device, const services::Lun& lun,
                          uint32_t number) {
  TD_ASSIGN_OR_RETURN(const format::Uuid uid, format::Uuid::Parse(lun.recorded_uid()));
  const auto found = ReadSuperblock(*device);
  if (!found.ok() || found->lun != uid || found->member != number ||
      found->device_bytes > device->bytes() || !CheckNote(*device, *found, lun).ok()) {
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(WriteSuperblocks(*device, Pages(kPageBytes), *found));
  TD_RETURN_IF_ERROR(device->Write(Pages(kHeadBytes).bytes(), 0));
  return SlotTable::Erase(*device, *found);
}

}  // namespace tapedeck::storage_node::store::device
