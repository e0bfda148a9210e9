#include "storage_node/recording/recovery/block_scan.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/block_check.h"
#include "storage_node/format/limits.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::recording {
namespace {

// 512 KiB of index at a time.
constexpr uint64_t kScanEntries = 4096;

// A read that fails may succeed the next time: cutting a block for that would lose it.
constexpr int kReadAgain = 2;

// The file that ends early is how a power cut leaves it, and no error of the disk.
bool IsIoError(const absl::Status& status) { return !status.ok() && !absl::IsOutOfRange(status); }

bool IsAllZeros(const dataplane::Block& block) {
  return std::ranges::all_of(block.payload(), [](std::byte b) { return b == std::byte{0}; });
}

format::Watermark NewestOf(CallerLoop& loop, store::RecordingFiles& files,
                           const format::Uuid& recording, uint64_t block_bytes) {
  format::Watermark newest;
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    const auto pages = Await<absl::StatusOr<store::Bytes>>(loop, [&](auto done) {
      files.ReadIndex(copy, format::kPageBytes, 2 * format::kPageBytes, std::move(done));
    });
    if (!pages.ok()) continue;
    const auto found = format::NewestWatermark(*pages, recording, copy);
    // A recording cannot have more blocks.
    if (!found.has_value() || found->durable > format::MaxBlocks(block_bytes)) continue;
    if (found->durable >= newest.durable) newest = *found;
  }
  return newest;
}

}  // namespace

absl::Status BlockScan::Run() {
  watermark_ = NewestOf(loop_, files_, identity_.recording, format_.block_bytes);
  for (uint64_t first = 0;; first += kScanEntries) {
    TD_ASSIGN_OR_RETURN(const bool more, ScanChunk(first));
    if (!more) break;
  }
  // A watermark above the end means that durable entries are gone.
  if (watermark_.durable > next_) corrupt_ += watermark_.durable - next_;
  Skip(watermark_.durable);
  LookAtDurable();
  KeepDoubtfulData();
  return absl::OkStatus();
}

absl::StatusOr<bool> BlockScan::ScanChunk(uint64_t first) {
  index::Entries entries(kScanEntries, absl::NotFoundError("never written"));
  bool any = false;
  uint32_t gone = 0;
  absl::Status error;
  for (uint32_t copy = 0; copy < files_.index_copies(); ++copy) {
    const auto bytes = Await<absl::StatusOr<store::Bytes>>(loop_, [&](auto done) {
      files_.ReadIndex(copy, format_.Offset(first), kScanEntries * format_.entry_bytes,
                       std::move(done));
    });
    if (!bytes.ok()) {
      // The end of the others is the end, unless all are gone.
      if (absl::IsDataLoss(bytes.status()) && ++gone < files_.index_copies()) continue;
      error.Update(bytes.status());
      continue;
    }
    any = any || !bytes->empty();
    index::MergeEntries(format_, *bytes, first, copy, &entries);
  }
  if (first + kScanEntries > format::MaxBlocks(format_.block_bytes)) return false;
  if (!any && !error.ok()) return error;
  for (uint64_t i = 0; i < entries.size() && any; ++i) Judge(first + i, entries[i]);
  if (absent_.size() <= format::kMaxListedGaps) return any;
  return absl::DataLossError(absl::StrCat(
      "recording ", id_, ": its index has more than ", format::kMaxListedGaps,
      " separate gaps below block ", next_, ", which no manifest can list; it was left as it is"));
}

bool BlockScan::IsSettled(uint64_t sequence) {
  while (next_settled_ < settled_.size() &&
         settled_[next_settled_].first + settled_[next_settled_].count <= sequence) {
    ++next_settled_;
  }
  return next_settled_ < settled_.size() && settled_[next_settled_].first <= sequence;
}

// Below the watermark an entry that cannot be read is corruption. Beyond it, it is the normal state
// of what was under way when the end came.
void BlockScan::Judge(uint64_t sequence, const absl::StatusOr<format::IndexEntry>& entry) {
  if (IsSettled(sequence)) return;
  const bool was_durable = sequence < watermark_.durable;
  if (!absl::IsNotFound(entry.status()) && !absl::IsAborted(entry.status())) {
    spoken_of_ = sequence + 1;
  }
  if (!entry.ok()) {
    if (was_durable) ++corrupt_;
    if (!was_durable && !absl::IsNotFound(entry.status())) ++cut_;
    return;
  }
  if (!was_durable && !PayloadIsGood(*entry, PlaceOf(sequence))) {
    ++cut_;
    return;
  }
  Skip(sequence);
  if (entry->payload_bytes == 0) return Skip(sequence + 1);
  next_ = sequence + 1;
  if (was_durable) last_durable_[PlaceOf(sequence).member] = *entry;
  Keep(*entry);
}

void BlockScan::LookAtDurable() {
  for (const auto& [member, entry] : last_durable_) PayloadIsGood(entry, PlaceOf(entry.sequence));
}

bool BlockScan::is_strange() const {
  return std::ranges::any_of(strange_, [&](uint32_t member) { return !own_.contains(member); });
}

bool BlockScan::PayloadIsGood(const format::IndexEntry& entry, format::Place place) {
  if (entry.payload_bytes == 0) return true;
  const auto read = [&](uint32_t copy) {
    return AwaitBlock(loop_, files_, ring_, place, entry.payload_bytes, copy);
  };
  bool unread = false;
  bool is_strange = false;
  for (uint32_t copy = 0; copy < files_.block_copies(); ++copy) {
    auto block = read(copy);
    for (int again = 0; again < kReadAgain && IsIoError(block.status()); ++again) {
      block = read(copy);
    }
    unread = unread || IsIoError(block.status());
    if (block.ok() && format::CheckBlock(identity_, entry.sequence, place, entry,
                                         format_.piece_bytes, block->payload())
                              .kind == format::DamageKind::kNone) {
      own_.insert(place.member);
      return true;
    }
    is_strange = is_strange || (block.ok() && !IsAllZeros(*block));
  }
  if (is_strange) strange_.insert(place.member);
  if (unread) ++unread_;
  return unread;
}

void BlockScan::Keep(const format::IndexEntry& entry) {
  bytes_ += entry.payload_bytes;
  if (entry.capture_ns != dataplane::kTimeUnknown) last_capture_ns_ = entry.capture_ns;
  start_.Add(entry);
  KeepData(entry.sequence, entry.payload_bytes);
}

void BlockScan::KeepData(uint64_t sequence, uint64_t bytes) {
  const format::Place place = PlaceOf(sequence);
  uint64_t& end = data_bytes_[place.member];
  end = std::max(end, place.offset + bytes);
}

void BlockScan::KeepDoubtfulData() {
  const uint64_t end = spoken_of();
  for (uint64_t sequence = end - std::min<uint64_t>(end, members_); sequence < end; ++sequence) {
    const bool is_there =
        sequence < next_ && !format::HasSequence(absent_, sequence);  // with a length of its own
    if (!is_there) KeepData(sequence, format_.block_bytes);
  }
  // Members may lie in each other's place: the longest says where all may end.
  if (cut_ > 0) std::ranges::fill(data_bytes_, *std::ranges::max_element(data_bytes_));
}

format::Watermark StoredWatermark(CallerLoop& loop, store::RecordingFiles& files,
                                  const format::Manifest& manifest) {
  return NewestOf(loop, files, manifest.identity.recording, manifest.block_bytes);
}

}  // namespace tapedeck::storage_node::recording
