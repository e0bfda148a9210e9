#include "storage_node/repair/verify.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/block_check.h"
#include "storage_node/recording/await_block.h"
#include "storage_node/repair/copy_mender.h"
#include "storage_node/repair/manifest_repair.h"

namespace tapedeck::storage_node::repair {
namespace {

using format::DamageKind;

constexpr uint64_t kBlocksPerReport = 64;

// One verification, on the calling thread.
class Verification {
 public:
  Verification(std::unique_ptr<store::RecordingFiles> files,
               std::shared_ptr<dataplane::SlotPool> ring, const format::Manifest& manifest,
               recording::CallerLoop& loop)
      : loop_(loop),
        files_(std::move(files)),
        ring_(std::move(ring)),
        manifest_(manifest),
        entries_(manifest.entries()),
        index_(*files_, entries_, [] {}),
        mender_(loop, *files_, *ring_) {}

  absl::Status Run(const VerifyScope& scope,
                   const std::function<bool(const services::VerifyProgress&)>& report);

 private:
  // Of the pages before the entries, each copy.
  void CheckHeaders(services::VerifyProgress* progress);
  absl::Status CheckHeader(uint32_t copy);
  // Each copy: the catalog may know the recording though its members have lost what it is.
  void CheckManifests(services::VerifyProgress* progress);
  absl::Status CheckManifest(uint32_t copy);
  format::Verdict Check(uint64_t sequence, bool mends);
  format::Verdict Judge(const format::IndexEntry& entry,
                        const absl::StatusOr<dataplane::Block>& read) const;
  // Of the copies, the first good one; else what is wrong with the first.
  format::Verdict CheckCopies(const format::IndexEntry& entry);
  void TellMended(const VerifyScope& scope);
  absl::StatusOr<format::IndexEntry> Entry(uint64_t sequence) {
    return recording::AwaitEntry(loop_, index_, sequence);
  }
  absl::StatusOr<dataplane::Block> Read(const format::IndexEntry& entry, uint32_t copy = 0);
  // Names a block that holds the bytes of another one.
  void LookElsewhere(const format::IndexEntry& entry, format::Verdict* verdict);
  format::Place PlaceOf(uint64_t sequence) const {
    return format::PlaceOf(sequence, manifest_.block_bytes, manifest_.members);
  }
  // The block whose bytes have this CRC.
  std::optional<uint64_t> OwnerOf(uint32_t payload_crc32c);

  recording::CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const format::Manifest& manifest_;
  const format::EntryFormat entries_;
  index::IndexReader index_;
  CopyMender mender_;
  std::optional<std::unordered_map<uint32_t, uint64_t>> owners_;  // made when first needed
};

std::optional<uint64_t> Verification::OwnerOf(uint32_t payload_crc32c) {
  if (!owners_.has_value()) {
    owners_.emplace();
    for (uint64_t i = 0; i < manifest_.blocks; ++i) {
      if (const auto entry = Entry(i); entry.ok() && entry->payload_bytes > 0) {
        owners_->emplace(entry->payload_crc32c, i);
      }
    }
  }
  const auto it = owners_->find(payload_crc32c);
  return it == owners_->end() ? std::nullopt : std::optional(it->second);
}

absl::StatusOr<dataplane::Block> Verification::Read(const format::IndexEntry& entry,
                                                    uint32_t copy) {
  return recording::AwaitBlock(loop_, *files_, *ring_, PlaceOf(entry.sequence), entry.payload_bytes,
                               copy);
}

format::Verdict Verification::Judge(const format::IndexEntry& entry,
                                    const absl::StatusOr<dataplane::Block>& read) const {
  if (!read.ok()) {
    return {.kind = format::KindOfReadError(read.status()),
            .detail = std::string(read.status().message())};
  }
  return format::CheckBlock(manifest_.identity, entry.sequence, PlaceOf(entry.sequence), entry,
                            entries_.piece_bytes, read->payload());
}

format::Verdict Verification::CheckCopies(const format::IndexEntry& entry) {
  format::Verdict verdict;
  for (uint32_t copy = 0; copy < files_->block_copies(); ++copy) {
    format::Verdict found = Judge(entry, Read(entry, copy));
    if (found.kind == DamageKind::kNone) return found;
    if (copy == 0) verdict = std::move(found);
  }
  return verdict;
}

format::Verdict Verification::Check(uint64_t sequence, bool mends) {
  const absl::StatusOr<format::IndexEntry> entry = Entry(sequence);
  if (!entry.ok()) {
    return {.kind = format::KindOfEntryError(entry.status()),
            .detail = std::string(entry.status().message())};
  }
  if (entry->payload_bytes == 0) {
    return {.kind = DamageKind::kMissing, .detail = "it never reached the storage node"};
  }
  const auto judge = [&](const auto& read) { return Judge(*entry, read); };
  format::Verdict verdict =
      mends ? mender_.Check(sequence, PlaceOf(sequence), entry->payload_bytes, judge)
            : CheckCopies(*entry);
  if (!verdict.ranges.empty()) LookElsewhere(*entry, &verdict);
  return verdict;
}

void Verification::LookElsewhere(const format::IndexEntry& entry, format::Verdict* verdict) {
  const auto owner = OwnerOf(verdict->payload_crc32c);
  if (!owner.has_value()) return;
  verdict->kind = DamageKind::kMisdirected;
  verdict->stray_crc32c = 0;
  absl::StrAppend(&verdict->detail, "; these are the bytes of block ", *owner);
  const absl::StatusOr<format::IndexEntry> other = Entry(*owner);
  if (!other.ok()) return;
  const auto block = Read(*other);
  if (!block.ok() || dataplane::Crc32c(block->payload()) != entry.payload_crc32c) return;
  verdict->kind = DamageKind::kSwapped;
  absl::StrAppend(&verdict->detail, ", which has the bytes of this one");
}

void Verification::CheckHeaders(services::VerifyProgress* progress) {
  for (uint32_t copy = 0; copy < files_->index_copies(); ++copy) {
    const absl::Status status = CheckHeader(copy);
    if (status.ok()) continue;
    progress->damaged.push_back(
        {.kind = DamageKind::kHeader, .detail = std::string(status.message())});
  }
}

void Verification::CheckManifests(services::VerifyProgress* progress) {
  std::vector<absl::Status> copies;
  for (uint32_t copy = 0; copy < files_->manifest_copies(); ++copy) {
    copies.push_back(CheckManifest(copy));
  }
  // The power may have gone between the copies of the last one: the newest counts, a scrub rewrites
  // the others.
  const bool any_sound = std::ranges::any_of(copies, &absl::Status::ok);
  for (size_t copy = 0; copy < copies.size(); ++copy) {
    const absl::Status& status = copies[copy];
    if (status.ok() || (any_sound && absl::IsAborted(status))) continue;
    progress->damaged.push_back(
        {.kind = DamageKind::kManifest,
         .detail = absl::StrCat("manifest copy ", copy, ": ", status.message())});
  }
}

absl::Status Verification::CheckManifest(uint32_t copy) {
  TD_ASSIGN_OR_RETURN(const std::string text,
                      recording::Await<absl::StatusOr<std::string>>(
                          loop_, [&](auto done) { files_->ReadManifest(copy, std::move(done)); }));
  TD_RETURN_IF_ERROR(CheckManifestText(text, manifest_));
  TD_ASSIGN_OR_RETURN(const format::Manifest stored, format::DecodeManifest(text));
  if (stored.blocks == manifest_.blocks && stored.missing == manifest_.missing) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("manifest.json: it says ", stored.blocks, " blocks, ",
                                          stored.missing_blocks(), " of them missing"));
}

absl::Status Verification::CheckHeader(uint32_t copy) {
  TD_ASSIGN_OR_RETURN(const store::Bytes pages,
                      recording::Await<absl::StatusOr<store::Bytes>>(loop_, [&](auto done) {
                        files_->ReadIndex(copy, 0, format::kEntriesOffset, std::move(done));
                      }));
  const std::string where = absl::StrCat("index copy ", copy, ": ");
  if (pages.size() < format::kEntriesOffset) {
    return absl::DataLossError(absl::StrCat(where, "the file ends at byte ", pages.size()));
  }
  TD_ASSIGN_OR_RETURN(const format::IndexHeader header,
                      format::DecodeHeader(std::span(pages).first<format::kPageBytes>(), copy));
  if (header != manifest_.index_header()) {
    return absl::DataLossError(absl::StrCat(where, "the header is of another recording"));
  }
  const auto watermark = format::NewestWatermark(std::span(pages).subspan(format::kPageBytes),
                                                 manifest_.identity.recording, copy);
  if (!watermark.has_value() || watermark->durable != manifest_.durable_watermark) {
    return absl::DataLossError(absl::StrCat(where, "no watermark page says ",
                                            manifest_.durable_watermark, ", as the manifest does"));
  }
  return absl::OkStatus();
}

void Verification::TellMended(const VerifyScope& scope) {
  if (scope.mended == nullptr) return;
  const auto ends = mender_.Settle([this](uint64_t sequence, const auto& read) -> format::Verdict {
    const absl::StatusOr<format::IndexEntry> entry = Entry(sequence);
    if (!entry.ok()) return {.kind = format::KindOfEntryError(entry.status())};
    return Judge(*entry, read);
  });
  if (!ends.empty()) scope.mended(ends);
}

absl::Status Verification::Run(const VerifyScope& scope,
                               const std::function<bool(const services::VerifyProgress&)>& report) {
  const uint64_t first = scope.first_block;
  services::VerifyProgress progress{.blocks = manifest_.blocks - first};
  if (scope.index_pages) CheckManifests(&progress);
  if (scope.index_pages && manifest_.blocks > 0) CheckHeaders(&progress);
  auto missing = manifest_.missing.begin();
  for (uint64_t sequence = first; sequence < manifest_.blocks; ++sequence) {
    while (missing != manifest_.missing.end() && missing->first + missing->count <= sequence) {
      ++missing;
    }
    const bool known = missing != manifest_.missing.end() && missing->first <= sequence;
    const format::Verdict verdict =
        known ? format::Verdict{.kind = DamageKind::kMissing,
                                .detail = "it was not there when the recording was closed"}
              : Check(sequence, scope.mended != nullptr);
    if (verdict.kind != DamageKind::kNone) {
      progress.damaged.push_back({.sequence = sequence,
                                  .kind = verdict.kind,
                                  .detail = verdict.detail,
                                  .ranges = verdict.ranges,
                                  .stray_crc32c = verdict.stray_crc32c});
    }
    ++progress.checked_blocks;
    const bool last = progress.checked_blocks == progress.blocks;
    if (!last && progress.checked_blocks % kBlocksPerReport != 0) continue;
    TellMended(scope);
    if (!report(progress)) return absl::CancelledError("verification stopped");
    progress.damaged.clear();
  }
  if (progress.blocks == 0) report(progress);
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyBlocks(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const std::function<bool(const services::VerifyProgress&)>& report,
                          const VerifyScope& scope) {
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.Open(path, {}, loop));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      store.MakeRing({.slots = 2, .slot_bytes = manifest.block_bytes, .playback = true}));
  return Verification(std::move(files), std::move(ring), manifest, loop).Run(scope, report);
}

}  // namespace tapedeck::storage_node::repair
