#include "storage_node/store/device/stored.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::device {
namespace {

constexpr uint64_t kMinStepBytes = 64 << 20;
constexpr uint64_t kMaxStepBytes = 1 << 30;
// The last units are given one by one: what one recording holds ahead another's index may need.
constexpr uint32_t kKeptUnits = 16;
// Blocks of several rails end their writes out of order, but close to each other.
constexpr size_t kPagesKept = 4;

uint32_t UnitsFor(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
}

uint64_t BytesOf(const Runs& runs) { return UnitsOf(runs) * kUnitBytes; }

absl::Status EndsEarly(const Device& device, const std::string& name, uint64_t end,
                       uint64_t needed) {
  return disk::StoreIo(device.path(), "read",
                       absl::StrCat("read ", device.path(), ": recording ", name, " ends at byte ",
                                    end, ", block needs ", needed),
                       absl::StatusCode::kOutOfRange);
}

}  // namespace

StoredRecording::StoredRecording(const Parts& parts, uint32_t slot, SlotRecord record)
    : parts_(parts),
      slot_(slot),
      path_(record.path),
      room_(engine::AlignUp(record.data_bytes)),
      index_written_(record.index_bytes),
      on_device_(record.generation > 0),
      record_(std::move(record)) {}

// The steps of a long recording are long too: it has few runs, and a fast one is far ahead.
uint64_t StoredRecording::StepBytes(uint64_t data_bytes) {
  return std::clamp(data_bytes / 8, kMinStepBytes, kMaxStepBytes);
}

SlotRecord StoredRecording::record() const {
  absl::MutexLock lock(&mutex_);
  return record_;
}

absl::Status StoredRecording::CheckThere() const {
  absl::MutexLock lock(&mutex_);
  return deleted_ ? Gone() : absl::OkStatus();
}

absl::Status StoredRecording::Gone() const {
  return absl::AbortedError(absl::StrCat("recording ", name(), " was deleted"));
}

// Where writing the slot fails it may still have happened. Units that it then names stay held until
// the device is opened again.
absl::Status StoredRecording::Update(SlotRecord next) {
  next.live = true;
  on_device_ = true;
  const SlotRecord now = record();
  const bool same_units = next.data == now.data && next.index == now.index;
  TD_RETURN_IF_ERROR(same_units ? parts_.table.Write(slot_, next)
                                : parts_.table.WriteBoth(slot_, next));
  absl::MutexLock lock(&mutex_);
  record_ = std::move(next);
  room_ = engine::AlignUp(record_.data_bytes);
  return absl::OkStatus();
}

absl::StatusOr<Runs> StoredRecording::Allocate(const Runs& runs, uint64_t end,
                                               uint64_t step) const {
  const uint32_t held = UnitsOf(runs);
  const uint32_t needed = UnitsFor(end) > held ? UnitsFor(end) - held : 0;
  if (needed == 0) return Runs();
  std::optional<uint32_t> next;
  if (!runs.empty()) next = runs.back().first + runs.back().count;
  const uint32_t free = parts_.space.free_units();
  const uint32_t ahead = std::min(UnitsFor(step), free - std::min(free, kKeptUnits));
  Runs more = parts_.space.Allocate(std::max(needed, ahead), needed, next);
  if (more.empty()) {
    return disk::MemberFull(
        device().path(),
        absl::StrCat("grow recording ", name(), ": ", device().path(), " is full: it needs ",
                     needed * kUnitBytes, " bytes, ", parts_.space.free_units() * kUnitBytes,
                     " of ", parts_.space.units() * kUnitBytes,
                     " are free; delete recordings or use a larger device"));
  }
  if (runs.size() + more.size() > kMaxRuns) {
    parts_.space.Free(more);
    return disk::MemberFull(
        device().path(),
        absl::StrCat("grow recording ", name(), ": it lies in more than ", kMaxRuns, " pieces on ",
                     device().path(), "; start another recording"));
  }
  return more;
}

absl::Status StoredRecording::GrowData(uint64_t end) {
  absl::MutexLock update(&update_mutex_);
  TD_RETURN_IF_ERROR(CheckThere());
  SlotRecord next = record();
  if (end <= next.data_bytes) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const Runs more, Allocate(next.data, end, StepBytes(next.data_bytes)));
  Append(&next.data, more);
  next.data_bytes = BytesOf(next.data);
  return Update(std::move(next));
}

std::vector<Piece> StoredRecording::PiecesOf(const Runs& runs, uint64_t offset,
                                             uint64_t bytes) const {
  std::vector<Piece> pieces;
  uint64_t begin = 0;  // of the run, in the recording
  for (const Run& run : runs) {
    const uint64_t length = run.count * kUnitBytes;
    if (bytes > 0 && offset < begin + length) {
      const uint64_t here = std::min(bytes, begin + length - offset);
      pieces.push_back(
          {.offset = parts_.superblock.UnitOffset(run.first) + offset - begin, .bytes = here});
      offset += here;
      bytes -= here;
    }
    begin += length;
  }
  return pieces;
}

absl::StatusOr<std::vector<Piece>> StoredRecording::StartWrite(uint64_t offset, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (deleted_) return Gone();
  if (offset + bytes > engine::AlignUp(record_.data_bytes)) {
    return EndsEarly(device(), name(), record_.data_bytes, offset + bytes);
  }
  ++writes_;
  return PiecesOf(record_.data, offset, bytes);
}

void StoredRecording::EndWrite() {
  absl::MutexLock lock(&mutex_);
  --writes_;
}

absl::StatusOr<std::vector<Piece>> StoredRecording::FindData(uint64_t offset,
                                                             uint64_t bytes) const {
  absl::MutexLock lock(&mutex_);
  if (deleted_) return Gone();
  if (offset + bytes > record_.data_bytes) {
    return EndsEarly(device(), name(), record_.data_bytes, offset + bytes);
  }
  return PiecesOf(record_.data, offset, engine::AlignUp(bytes));
}

absl::Status StoredRecording::ZeroUnits(const Runs& runs) const {
  const Pages zeros(kUnitBytes);
  for (const Run& run : runs) {
    for (uint32_t i = 0; i < run.count; ++i) {
      TD_RETURN_IF_ERROR(
          device().Write(zeros.bytes(), parts_.superblock.UnitOffset(run.first + i)));
    }
  }
  return device().Flush();
}

// The zeros are durable before the slot names the units: entries that another recording left there
// look good at the same place of this one.
absl::Status StoredRecording::GrowIndex(uint64_t end) {
  SlotRecord next = record();
  TD_ASSIGN_OR_RETURN(const Runs more, Allocate(next.index, end, kUnitBytes));
  if (absl::Status zeroed = ZeroUnits(more); !zeroed.ok()) {
    parts_.space.Free(more);
    return zeroed;
  }
  Append(&next.index, more);
  next.index_bytes = BytesOf(next.index);
  return Update(std::move(next));
}

absl::Status StoredRecording::LoadPage(std::span<std::byte> into, uint64_t offset) {
  if (const auto kept = pages_.find(offset); kept != pages_.end()) {
    std::ranges::copy(kept->second.bytes(), into.begin());
    return absl::OkStatus();
  }
  return device().Read(into, PiecesOf(record().index, offset, kPageBytes)[0].offset);
}

void StoredRecording::KeepPage(std::span<const std::byte> page, uint64_t offset) {
  Pages copy(kPageBytes);
  std::ranges::copy(page, copy.bytes().begin());
  pages_.insert_or_assign(offset, std::move(copy));
  if (pages_.size() > kPagesKept) pages_.erase(pages_.begin());
}

absl::Status StoredRecording::PutIndex(std::span<const std::byte> bytes, uint64_t offset) {
  const uint64_t end = offset + bytes.size();
  const uint64_t begin = offset / kPageBytes * kPageBytes;
  Pages pages(end - begin);
  const uint64_t last = begin + pages.bytes().size() - kPageBytes;
  if (offset > begin) TD_RETURN_IF_ERROR(LoadPage(pages.bytes().first(kPageBytes), begin));
  if (end < last + kPageBytes && (last > begin || offset == begin)) {
    TD_RETURN_IF_ERROR(LoadPage(pages.bytes().last(kPageBytes), last));
  }
  std::ranges::copy(bytes, pages.bytes().begin() + static_cast<ptrdiff_t>(offset - begin));
  // Until they are on the device nobody knows what they are.
  pages_.erase(pages_.lower_bound(begin), pages_.upper_bound(last));
  size_t done = 0;
  for (const Piece& piece : PiecesOf(record().index, begin, pages.bytes().size())) {
    TD_RETURN_IF_ERROR(device().Write(pages.bytes().subspan(done, piece.bytes), piece.offset));
    done += piece.bytes;
  }
  if (end < last + kPageBytes) KeepPage(pages.bytes().last(kPageBytes), last);
  return absl::OkStatus();
}

absl::Status StoredRecording::WriteIndex(std::span<const std::byte> bytes, uint64_t offset) {
  absl::MutexLock lock(&index_mutex_);
  TD_RETURN_IF_ERROR(CheckThere());
  const uint64_t end = offset + bytes.size();
  if (end > record().index_bytes) {
    absl::MutexLock update(&update_mutex_);
    TD_RETURN_IF_ERROR(GrowIndex(end));
  }
  TD_RETURN_IF_ERROR(PutIndex(bytes, offset));
  index_written_ = std::max(index_written_, end);
  return absl::OkStatus();
}

absl::StatusOr<size_t> StoredRecording::ReadIndex(std::span<std::byte> into,
                                                  uint64_t offset) const {
  TD_RETURN_IF_ERROR(CheckThere());
  const SlotRecord now = record();
  if (offset >= now.index_bytes) return 0;
  const size_t bytes = std::min<uint64_t>(into.size(), now.index_bytes - offset);
  const uint64_t begin = offset / kPageBytes * kPageBytes;
  Pages pages(offset + bytes - begin);
  size_t done = 0;
  for (const Piece& piece : PiecesOf(now.index, begin, pages.bytes().size())) {
    TD_RETURN_IF_ERROR(device().Read(pages.bytes().subspan(done, piece.bytes), piece.offset));
    done += piece.bytes;
  }
  std::ranges::copy(pages.bytes().subspan(offset - begin, bytes), into.begin());
  return bytes;
}

absl::Status StoredRecording::Trim(uint64_t data_bytes, uint64_t index_bytes) {
  absl::MutexLock lock(&index_mutex_);
  absl::MutexLock update(&update_mutex_);
  TD_RETURN_IF_ERROR(CheckThere());
  if (index_bytes > record().index_bytes) TD_RETURN_IF_ERROR(GrowIndex(index_bytes));
  SlotRecord next = record();
  // What was written beyond the end must not come back when the index grows again.
  const uint64_t kept_end = UnitsFor(index_bytes) * kUnitBytes;
  if (const uint64_t end = std::min(index_written_, kept_end); end > index_bytes) {
    TD_RETURN_IF_ERROR(PutIndex(Bytes(end - index_bytes), index_bytes));
  }
  next.data_bytes = std::min(data_bytes, next.data_bytes);
  next.index_bytes = index_bytes;
  Runs freed = CutTo(&next.data, UnitsFor(next.data_bytes));
  Append(&freed, CutTo(&next.index, UnitsFor(index_bytes)));
  {
    // Writes of files that are closed already may still be under way.
    absl::MutexLock guard(&mutex_);
    mutex_.Await(absl::Condition(
        +[](int* writes) { return *writes == 0; }, &writes_));
  }
  TD_RETURN_IF_ERROR(Update(std::move(next)));
  parts_.space.Free(freed);
  index_written_ = std::min(index_written_, index_bytes);
  pages_.erase(pages_.lower_bound(kept_end), pages_.end());
  return absl::OkStatus();
}

absl::Status StoredRecording::WriteManifest(std::string text) {
  absl::MutexLock update(&update_mutex_);
  TD_RETURN_IF_ERROR(CheckThere());
  SlotRecord next = record();
  next.manifest = std::move(text);
  return Update(std::move(next));
}

absl::StatusOr<std::string> StoredRecording::ReadManifest() const {
  absl::MutexLock lock(&mutex_);
  if (!record_.manifest.empty()) return record_.manifest;
  return absl::NotFoundError(
      absl::StrCat("read ", device().path(), ": recording ", name(), " has no manifest yet"));
}

absl::Status StoredRecording::BeginDeletion() {
  absl::MutexLock update(&update_mutex_);
  SlotRecord next = record();
  if (next.deleting || !on_device_) return absl::OkStatus();
  TD_RETURN_IF_ERROR(CheckThere());
  next.deleting = true;
  return Update(std::move(next));
}

absl::Status StoredRecording::Delete() {
  absl::MutexLock lock(&index_mutex_);
  absl::MutexLock update(&update_mutex_);
  {
    absl::MutexLock guard(&mutex_);
    if (deleted_) return absl::OkStatus();
    mutex_.Await(absl::Condition(
        +[](int* writes) { return *writes == 0; }, &writes_));
  }
  if (on_device_) TD_RETURN_IF_ERROR(parts_.table.WriteBoth(slot_, {}));
  absl::MutexLock guard(&mutex_);
  deleted_ = true;
  parts_.space.Free(record_.data);
  parts_.space.Free(record_.index);
  parts_.table.ReturnSlot(slot_);
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::device
