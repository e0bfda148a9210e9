#include "storage_node/repair/copy_mender.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::repair {

absl::StatusOr<dataplane::Block> CopyMender::Read(format::Place place, uint32_t bytes,
                                                  uint32_t copy) {
  return recording::AwaitBlock(loop_, files_, ring_, place, bytes, copy);
}

format::Verdict CopyMender::Check(uint64_t sequence, format::Place place, uint32_t bytes,
                                  Judge judge) {
  std::optional<dataplane::Block> good;
  std::vector<Written> bad;
  for (uint32_t copy = 0; copy < files_.block_copies(); ++copy) {
    auto read = Read(place, bytes, copy);
    format::Verdict verdict = judge(read);
    // The first time the memory may be to blame.
    if (verdict.kind != format::DamageKind::kNone) {
      read = absl::UnknownError("read again");
      read = Read(place, bytes, copy);
      verdict = judge(read);
    }
    if (verdict.kind == format::DamageKind::kNone) {
      good = *std::move(read);
    } else {
      bad.push_back({.sequence = sequence,
                     .place = place,
                     .bytes = bytes,
                     .copy = copy,
                     .found = std::move(verdict)});
    }
  }
  if (!good.has_value()) return std::move(bad.front().found);
  // There are two: at most one is bad.
  for (Written& copy : bad) {
    copy.end = recording::Await<absl::Status>(loop_, [&](auto done) {
      files_.MendBlockCopy(copy.copy, place, *std::move(good),
                           [done = std::move(done)](const absl::Status& status,
                                                    dataplane::Block) mutable { done(status); });
    });
    written_.push_back(std::move(copy));
    break;
  }
  return {};
}

std::vector<CopyDamage> CopyMender::Settle(JudgeOf judge) {
  std::vector<CopyDamage> ends;
  if (written_.empty()) return ends;
  const absl::Status flushed =
      recording::Await<absl::Status>(loop_, [&](auto done) { files_.Flush(std::move(done)); });
  for (Written& copy : written_) {
    copy.end.Update(flushed);
    if (copy.end.ok()) {
      const auto back = Read(copy.place, copy.bytes, copy.copy);
      if (judge(copy.sequence, back).kind != format::DamageKind::kNone) {
        copy.end = absl::DataLossError("the data read back differs from the data written");
      }
    }
    const std::string outcome = copy.end.ok()
                                    ? "written again from the other"
                                    : absl::StrCat("writing it again failed: ", copy.end.message());
    ends.push_back(
        {.block = {.sequence = copy.sequence,
                   .kind = copy.found.kind,
                   .detail = absl::StrCat(copy.found.detail, "; one copy of the block: ", outcome),
                   .ranges = copy.found.ranges},
         .repaired = copy.end.ok()});
  }
  written_.clear();
  return ends;
}

absl::Status TrimCopies(store::Store& store, const store::RecordingPath& path,
                        const format::Manifest& manifest, const dataplane::Clock& clock) {
  if (manifest.blocks == 0) return absl::OkStatus();
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  const format::EntryFormat entries = manifest.entries();
  index::IndexReader index(*files, entries, [] {});
  const uint64_t last = manifest.blocks - 1;
  const auto& entry = recording::AwaitEntry(loop, index, last);
  if (!entry.ok() || entry->payload_bytes == 0) return absl::OkStatus();
  const format::Place place = format::PlaceOf(last, manifest.block_bytes, manifest.members);
  const std::vector<uint64_t> ends = {place.offset + entry->payload_bytes};
  return recording::Await<absl::Status>(loop, [&](auto done) {
    files->Trim(ends, entries.Offset(manifest.blocks), std::move(done));
  });
}

}  // namespace tapedeck::storage_node::repair
