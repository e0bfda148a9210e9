#include "storage_node/verify.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/caller_loop.h"
#include "storage_node/format/block_check.h"
#include "storage_node/index_reader.h"

namespace tapedeck::storage_node {
namespace {

using format::DamageKind;

constexpr uint64_t kBlocksPerReport = 64;

// One verification, on the calling thread.
class Verification {
 public:
  Verification(std::unique_ptr<store::RecordingFiles> files,
               std::shared_ptr<dataplane::SlotPool> ring, const format::Manifest& manifest,
               CallerLoop& loop)
      : loop_(loop),
        files_(std::move(files)),
        ring_(std::move(ring)),
        manifest_(manifest),
        index_(*files_, [] {}) {}

  absl::Status Run(const std::function<bool(const services::VerifyProgress&)>& report);

 private:
  format::Verdict Check(uint64_t sequence);
  absl::StatusOr<format::IndexEntry> Entry(uint64_t sequence);
  // The block whose bytes have this CRC.
  std::optional<uint64_t> OwnerOf(uint32_t payload_crc32c);

  CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const format::Manifest& manifest_;
  IndexReader index_;
  std::optional<std::unordered_map<uint32_t, uint64_t>> owners_;  // made when first needed
};

absl::StatusOr<format::IndexEntry> Verification::Entry(uint64_t sequence) {
  const absl::StatusOr<format::IndexEntry>* entry = nullptr;
  loop_.RunUntil([&] {
    entry = index_.Find(sequence);
    return entry != nullptr;
  });
  return *entry;
}

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

format::Verdict Verification::Check(uint64_t sequence) {
  const absl::StatusOr<format::IndexEntry> entry = Entry(sequence);
  if (!entry.ok()) {
    return {.kind = DamageKind::kIndex, .detail = std::string(entry.status().message())};
  }
  if (entry->payload_bytes == 0) {
    return {.kind = DamageKind::kMissing, .detail = "it never reached the storage node"};
  }
  const format::Place place = format::PlaceOf(sequence, manifest_.block_bytes, manifest_.members);
  const auto block = Await<absl::StatusOr<dataplane::Block>>(loop_, [&](auto done) {
    files_->ReadBlock(place, entry->payload_bytes, *ring_, std::move(done));
  });
  if (!block.ok()) {
    return {.kind = DamageKind::kIo, .detail = std::string(block.status().message())};
  }
  format::Verdict verdict =
      format::CheckBlock(manifest_.identity, sequence, place, *entry, block->payload());
  if (verdict.kind != DamageKind::kRot) return verdict;
  if (const auto owner = OwnerOf(verdict.payload_crc32c); owner.has_value()) {
    verdict.kind = DamageKind::kMisdirected;
    absl::StrAppend(&verdict.detail, "; these are the bytes of block ", *owner);
  }
  return verdict;
}

absl::Status Verification::Run(const std::function<bool(const services::VerifyProgress&)>& report) {
  services::VerifyProgress progress{.blocks = manifest_.blocks};
  auto missing = manifest_.missing.begin();
  for (uint64_t sequence = 0; sequence < manifest_.blocks; ++sequence) {
    while (missing != manifest_.missing.end() && missing->first + missing->count <= sequence) {
      ++missing;
    }
    const bool known = missing != manifest_.missing.end() && missing->first <= sequence;
    const format::Verdict verdict =
        known ? format::Verdict{.kind = DamageKind::kMissing,
                                .detail = "it was not there when the recording was closed"}
              : Check(sequence);
    if (verdict.kind != DamageKind::kNone) {
      progress.damaged.push_back({.sequence = sequence,
                                  .kind = format::DamageName(verdict.kind),
                                  .detail = verdict.detail});
    }
    ++progress.checked_blocks;
    const bool last = progress.checked_blocks == progress.blocks;
    if (!last && progress.checked_blocks % kBlocksPerReport != 0) continue;
    if (!report(progress)) return absl::CancelledError("verification stopped");
    progress.damaged.clear();
  }
  if (progress.blocks == 0) report(progress);
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyBlocks(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const std::function<bool(const services::VerifyProgress&)>& report) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.OpenRecording(path, loop));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      store.MakeRing({.slots = 1, .slot_bytes = manifest.block_bytes, .playback = true}));
  return Verification(std::move(files), std::move(ring), manifest, loop).Run(report);
}

}  // namespace tapedeck::storage_node
