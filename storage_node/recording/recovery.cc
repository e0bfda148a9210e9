#include "storage_node/recording/recovery.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/block_check.h"
#include "storage_node/format/limits.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/recording/await_block.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/sealer.h"

namespace tapedeck::storage_node::recording {
namespace {

// 512 KiB of index at a time.
constexpr uint64_t kScanEntries = 4096;

// A read that fails may succeed the next time: cutting a block for that would lose it.
constexpr int kReadAgain = 2;

// The file that ends early is how a power cut leaves it, and no error of the disk.
bool IsIoError(const absl::Status& status) { return !status.ok() && !absl::IsOutOfRange(status); }

// On how many members a recording that is salvaged lies decides what is given back there, and its
// LUN may have got more since: its index has the number, too.
absl::Status CheckMembers(CallerLoop& loop, store::RecordingFiles& files,
                          const format::Manifest& manifest) {
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    const auto page = Await<absl::StatusOr<store::Bytes>>(
        loop, [&](auto done) { files.ReadIndex(copy, 0, format::kPageBytes, std::move(done)); });
    if (!page.ok() || page->size() < format::kPageBytes) continue;
    const auto header = format::DecodeHeader(std::span(*page).first<format::kPageBytes>(), copy);
    if (!header.ok() || header->recording != manifest.identity.recording) continue;
    if (header->members == manifest.members) continue;
    return absl::DataLossError(absl::StrCat("the manifest of ", manifest.id, " says ",
                                            manifest.members, " members, and its index ",
                                            header->members));
  }
  return absl::OkStatus();
}

// One recording being salvaged, on the calling thread.
class Salvage {
 public:
  Salvage(std::unique_ptr<store::RecordingFiles> files, std::shared_ptr<dataplane::SlotPool> ring,
          format::Manifest manifest, CallerLoop& loop)
      : loop_(loop),
        files_(std::move(files)),
        ring_(std::move(ring)),
        manifest_(std::move(manifest)),
        format_(manifest_.entries()),
        settled_(manifest_.missing),
        data_bytes_(manifest_.members) {}

  absl::StatusOr<format::Manifest> Run(const std::string& cause);

 private:
  absl::Status Flush();
  absl::Status Scan();
  // False at the end of every copy.
  absl::StatusOr<bool> ScanChunk(uint64_t first);
  // Asked in order: nobody waited for that block any more. What is in its place is of no use.
  bool IsSettled(uint64_t sequence);
  void Judge(uint64_t sequence, const absl::StatusOr<format::IndexEntry>& entry);
  // A payload that the disk does not give is kept: nobody knows that it is bad, and whoever plays
  // it finds out.
  bool PayloadIsGood(const format::IndexEntry& entry, format::Place place);
  absl::StatusOr<dataplane::Block> Read(const format::IndexEntry& entry, format::Place place,
                                        uint32_t copy);
  void Keep(const format::IndexEntry& entry, format::Place place);
  // All from next_ to `end` are absent.
  void Skip(uint64_t end) {
    if (end > next_) format::AppendRange(&absent_, {.first = next_, .count = end - next_});
    next_ = std::max(next_, end);
  }

  CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  format::Manifest manifest_;
  const format::EntryFormat format_;
  const std::vector<format::SequenceRange> settled_;
  size_t next_settled_ = 0;  // the first that does not end below what is judged
  std::vector<uint64_t> data_bytes_;
  format::Watermark watermark_;
  std::vector<format::SequenceRange> absent_;  // below manifest_.blocks, in order
  uint64_t next_ = 0;                          // one more than the last block kept
  uint64_t corrupt_ = 0;                       // durable once, and now damaged
  uint64_t cut_ = 0;                           // written but not whole when the end came
  uint64_t unread_ = 0;                        // kept although the disk did not give them
};

absl::Status Salvage::Flush() {
  return Await<absl::Status>(loop_, [&](auto done) { files_->Flush(std::move(done)); });
}

absl::Status Salvage::Scan() {
  for (uint64_t first = 0;; first += kScanEntries) {
    TD_ASSIGN_OR_RETURN(const bool more, ScanChunk(first));
    if (!more) break;
  }
  // A watermark above the end means that durable entries are gone.
  if (watermark_.durable > next_) corrupt_ += watermark_.durable - next_;
  Skip(watermark_.durable);
  return absl::OkStatus();
}

absl::StatusOr<bool> Salvage::ScanChunk(uint64_t first) {
  index::Entries entries(kScanEntries, absl::NotFoundError("never written"));
  bool any = false;
  uint32_t gone = 0;
  absl::Status error;
  for (uint32_t copy = 0; copy < files_->index_copies(); ++copy) {
    const auto bytes = Await<absl::StatusOr<store::Bytes>>(loop_, [&](auto done) {
      files_->ReadIndex(copy, format_.Offset(first), kScanEntries * format_.entry_bytes,
                        std::move(done));
    });
    if (!bytes.ok()) {
      // The end of the others is the end, unless all are gone.
      if (absl::IsDataLoss(bytes.status()) && ++gone < files_->index_copies()) continue;
      error.Update(bytes.status());
      continue;
    }
    any = any || !bytes->empty();
    index::MergeEntries(format_, *bytes, first, copy, &entries);
  }
  if (first + kScanEntries > format::MaxBlocks(manifest_.block_bytes)) return false;
  if (!any && !error.ok()) return error;
  for (uint64_t i = 0; i < entries.size() && any; ++i) Judge(first + i, entries[i]);
  if (absent_.size() <= format::kMaxListedGaps) return any;
  return absl::DataLossError(absl::StrCat(
      "recording ", manifest_.id, ": its index has more than ", format::kMaxListedGaps,
      " separate gaps below block ", next_, ", which no manifest can list; it was left as it is"));
}

bool Salvage::IsSettled(uint64_t sequence) {
  while (next_settled_ < settled_.size() &&
         settled_[next_settled_].first + settled_[next_settled_].count <= sequence) {
    ++next_settled_;
  }
  return next_settled_ < settled_.size() && settled_[next_settled_].first <= sequence;
}

// Below the watermark an entry that cannot be read is corruption. Beyond it, it is the normal state
// of what was under way when the end came.
void Salvage::Judge(uint64_t sequence, const absl::StatusOr<format::IndexEntry>& entry) {
  if (IsSettled(sequence)) return;
  const bool was_durable = sequence < watermark_.durable;
  if (!entry.ok()) {
    if (was_durable) ++corrupt_;
    if (!was_durable && !absl::IsNotFound(entry.status())) ++cut_;
    return;
  }
  const format::Place place = format::PlaceOf(sequence, manifest_.block_bytes, manifest_.members);
  if (!was_durable && !PayloadIsGood(*entry, place)) {
    ++cut_;
    return;
  }
  Skip(sequence);
  if (entry->payload_bytes == 0) return Skip(sequence + 1);
  next_ = sequence + 1;
  Keep(*entry, place);
}

bool Salvage::PayloadIsGood(const format::IndexEntry& entry, format::Place place) {
  if (entry.payload_bytes == 0) return true;
  bool unread = false;
  for (uint32_t copy = 0; copy < files_->block_copies(); ++copy) {
    auto block = Read(entry, place, copy);
    for (int again = 0; again < kReadAgain && IsIoError(block.status()); ++again) {
      block = Read(entry, place, copy);
    }
    unread = unread || IsIoError(block.status());
    if (block.ok() && format::CheckBlock(manifest_.identity, entry.sequence, place, entry,
                                         format_.piece_bytes, block->payload())
                              .kind == format::DamageKind::kNone) {
      return true;
    }
  }
  if (unread) ++unread_;
  return unread;
}

absl::StatusOr<dataplane::Block> Salvage::Read(const format::IndexEntry& entry, format::Place place,
                                               uint32_t copy) {
  return AwaitBlock(loop_, *files_, *ring_, place, entry.payload_bytes, copy);
}

void Salvage::Keep(const format::IndexEntry& entry, format::Place place) {
  manifest_.bytes += entry.payload_bytes;
  uint64_t& end = data_bytes_[place.member];
  end = std::max(end, place.offset + entry.payload_bytes);
}

absl::StatusOr<format::Manifest> Salvage::Run(const std::string& cause) {
  TD_RETURN_IF_ERROR(Flush());
  watermark_ = StoredWatermark(loop_, *files_, manifest_);
  manifest_.bytes = 0;
  TD_RETURN_IF_ERROR(Scan());
  manifest_.missing = absent_;
  manifest_.blocks = next_;
  manifest_.durable_watermark = absent_.empty() ? next_ : absent_.front().first;
  manifest_.state = services::RecordingState::kSalvaged;
  manifest_.cause = cause;
  manifest_.end_time_ns = loop_.clock().WallNs();
  manifest_.Advance();
  SealPlan plan{.manifest = manifest_,
                .data_bytes = data_bytes_,
                .watermark_generation = watermark_.generation + 1};
  TD_RETURN_IF_ERROR(Await<absl::Status>(
      loop_, [&](auto done) { SealRecording(*files_, std::move(plan), std::move(done)); }));
  dataplane::Log(corrupt_ + unread_ > 0 ? dataplane::LogLevel::kError : dataplane::LogLevel::kInfo,
                 "recovery", "recording salvaged",
                 {{"recording", manifest_.id},
                  {"blocks", absl::StrCat(manifest_.blocks)},
                  {"missing", absl::StrCat(manifest_.missing_blocks())},
                  {"watermark", absl::StrCat(watermark_.durable)},
                  {"cut", absl::StrCat(cut_)},
                  {"corrupt", absl::StrCat(corrupt_)},
                  {"unread", absl::StrCat(unread_)},
                  {"cause", cause}});
  return std::move(manifest_);
}

}  // namespace

format::Watermark StoredWatermark(CallerLoop& loop, store::RecordingFiles& files,
                                  const format::Manifest& manifest) {
  format::Watermark newest;
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    const auto pages = Await<absl::StatusOr<store::Bytes>>(loop, [&](auto done) {
      files.ReadIndex(copy, format::kPageBytes, 2 * format::kPageBytes, std::move(done));
    });
    if (!pages.ok()) continue;
    const auto found = format::NewestWatermark(*pages, manifest.identity.recording, copy);
    // A recording cannot have more blocks.
    if (!found.has_value() || found->durable > format::MaxBlocks(manifest.block_bytes)) continue;
    if (found->durable >= newest.durable) newest = *found;
  }
  return newest;
}

absl::StatusOr<format::Manifest> LoadManifest(store::Store& store, const store::RecordingPath& path,
                                              const dataplane::Clock& clock) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.OpenRecording(path, loop));
  absl::StatusOr<format::Manifest> newest = absl::NotFoundError("no copy of the manifest");
  std::vector<bool> lacks;
  for (uint32_t copy = 0; copy < files->index_copies(); ++copy) {
    const auto text = Await<absl::StatusOr<std::string>>(
        loop, [&](auto done) { files->ReadManifest(copy, std::move(done)); });
    auto manifest = text.ok() ? format::DecodeManifest(*text) : text.status();
    lacks.push_back(absl::IsNotFound(text.status()));
    if (manifest.ok() && newest.ok() && manifest->generation <= newest->generation) continue;
    // Damage in one copy says more than the absence of the other.
    if (manifest.ok() || absl::IsNotFound(newest.status())) newest = std::move(manifest);
  }
  if (!newest.ok() || newest->state != services::RecordingState::kRecording) return newest;
  TD_RETURN_IF_ERROR(CheckMembers(loop, *files, *newest));
  // Members that its LUN got since have none.
  lacks.resize(std::min<size_t>(lacks.size(), newest->members));
  if (std::ranges::find(lacks, true) == lacks.end()) return newest;
  if (StoredWatermark(loop, *files, *newest).durable > 0) return newest;
  return absl::NotFoundError(absl::StrCat("recording ", path.channel, "/", path.recording,
                                          " has no manifest on every member, and nothing durable"));
}

absl::Status CheckWhose(const format::Manifest& manifest, const store::RecordingPath& path,
                        const services::Lun& lun) {
  if (manifest.identity.lun.ToString() != lun.recorded_uid() || manifest.id != path.recording ||
      manifest.identity.channel != path.channel) {
    return absl::DataLossError(absl::StrCat("the manifest of ", path.channel, "/", path.recording,
                                            " is that of another recording, ",
                                            manifest.identity.channel, "/", manifest.id));
  }
  const size_t members = lun.striped_members();
  if (manifest.members <= members) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the manifest of ", path.channel, "/", path.recording,
                                          " says ", manifest.members, " members, and ", lun.name,
                                          " has ", members));
}

absl::StatusOr<format::Manifest> SalvageRecording(store::Store& store,
                                                  const store::RecordingPath& path,
                                                  format::Manifest manifest,
                                                  const std::string& cause,
                                                  const dataplane::Clock& clock) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.OpenRecording(path, loop));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      store.MakeRing({.slots = 1, .slot_bytes = manifest.block_bytes, .playback = true}));
  return Salvage(std::move(files), std::move(ring), std::move(manifest), loop).Run(cause);
}

}  // namespace tapedeck::storage_node::recording
