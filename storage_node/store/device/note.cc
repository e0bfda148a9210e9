#include "storage_node/store/device/note.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::store::device {

using dataplane::GetLittleEndian;
using dataplane::PutLittleEndian;
namespace {

constexpr uint32_t kNoteMagic = 0x544e4454;  // "TDNT"
constexpr uint16_t kNoteVersion = 1;
constexpr size_t kNoteHeaderBytes = 24;  // magic, version, 0, generation, length, 0
constexpr size_t kNoteCrcBytes = 4;
static_assert(kNoteHeaderBytes + format::kMaxNoteBytes + kNoteCrcBytes <= kNoteBytes);

uint32_t NoteCrc(std::span<const std::byte> bytes, const format::Uuid& stamp, uint32_t copy) {
  std::array<std::byte, 20> seed;
  std::copy(stamp.bytes.begin(), stamp.bytes.end(), seed.begin());
  PutLittleEndian(&seed[16], copy);
  return dataplane::Crc32cExtend(dataplane::Crc32c(seed), bytes);
}

absl::Status DamagedNote() { return absl::DataLossError("the member's note is damaged"); }

}  // namespace

absl::StatusOr<Pages> EncodeNote(const Note& note, const format::Uuid& stamp, uint32_t copy) {
  if (note.text.size() > format::kMaxNoteBytes) {
    return services::LimitReached(
        format::kMaxNoteBytes, "channels of a LUN",
        absl::StrCat("the LUN's channels take ", note.text.size(), " bytes, and a device has ",
                     format::kMaxNoteBytes, " for them; delete channels, or use another LUN"));
  }
  const size_t length = kNoteHeaderBytes + note.text.size() + kNoteCrcBytes;
  Pages pages(length);
  std::byte* bytes = pages.bytes().data();
  PutLittleEndian(bytes, kNoteMagic);
  PutLittleEndian(bytes + 4, kNoteVersion);
  PutLittleEndian(bytes + 8, note.generation);
  PutLittleEndian(bytes + 16, static_cast<uint32_t>(length));
  std::memcpy(bytes + kNoteHeaderBytes, note.text.data(), note.text.size());
  PutLittleEndian(bytes + length - kNoteCrcBytes,
                  NoteCrc(pages.bytes().first(length - kNoteCrcBytes), stamp, copy));
  return pages;
}

absl::StatusOr<size_t> NoteLength(std::span<const std::byte> page) {
  if (std::ranges::all_of(page, [](std::byte b) { return b == std::byte{0}; })) return 0;
  const size_t length = GetLittleEndian<uint32_t>(page.data() + 16);
  if (GetLittleEndian<uint32_t>(page.data()) != kNoteMagic ||
      GetLittleEndian<uint16_t>(page.data() + 4) != kNoteVersion ||
      length < kNoteHeaderBytes + kNoteCrcBytes || length > kNoteBytes) {
    return DamagedNote();
  }
  return length;
}

absl::StatusOr<Note> DecodeNote(std::span<const std::byte> bytes, const format::Uuid& stamp,
                                uint32_t copy) {
  TD_ASSIGN_OR_RETURN(const size_t length, NoteLength(bytes.first(kPageBytes)));
  if (length == 0 || length > bytes.size()) return DamagedNote();
  const auto all = bytes.first(length - kNoteCrcBytes);
  if (GetLittleEndian<uint32_t>(bytes.data() + all.size()) != NoteCrc(all, stamp, copy)) {
    return DamagedNote();
  }
  Note note{.generation = GetLittleEndian<uint64_t>(bytes.data() + 8)};
  if (note.generation == 0 || note.generation > format::kMaxGeneration) return DamagedNote();
  const auto text = all.subspan(kNoteHeaderBytes);
  note.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
  return note;
}

absl::StatusOr<Note> DeviceNotebook::ReadCopy(uint32_t copy) const {
  Pages first(kPageBytes);
  TD_RETURN_IF_ERROR(device_.Read(first.bytes(), NoteOffset(copy)));
  TD_ASSIGN_OR_RETURN(const size_t length, NoteLength(first.bytes()));
  if (length == 0) return Note{};
  Pages all(length);
  TD_RETURN_IF_ERROR(device_.Read(all.bytes(), NoteOffset(copy)));
  return DecodeNote(all.bytes(), stamp_, copy);
}

// A damaged copy beside a good one was being written when the power went.
absl::StatusOr<Note> DeviceNotebook::ReadNote() {
  Note newest;
  absl::Status damage;
  for (const uint32_t copy : {0u, 1u}) {
    auto note = ReadCopy(copy);
    if (absl::IsDataLoss(note.status())) {
      damage = absl::DataLossError(absl::StrCat(device_.path(), ": ", note.status().message()));
      continue;
    }
    TD_RETURN_IF_ERROR(note.status());
    if (note->generation > newest.generation) newest = *std::move(note);
  }
  if (newest.generation == 0 && !damage.ok()) return damage;
  return newest;
}

absl::Status DeviceNotebook::WriteNote(const Note& note) {
  const auto copy = static_cast<uint32_t>(note.generation % 2);
  TD_ASSIGN_OR_RETURN(const Pages pages, EncodeNote(note, stamp_, copy));
  TD_RETURN_IF_ERROR(device_.Write(pages.bytes(), NoteOffset(copy)));
  return device_.Flush();
}

}  // namespace tapedeck::storage_node::store::device
