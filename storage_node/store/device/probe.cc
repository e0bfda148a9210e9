#include "storage_node/store/device/probe.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

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

}  // namespace

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

}  // namespace tapedeck::storage_node::store::device
