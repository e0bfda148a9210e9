#include "storage_node/recording/writing/writer_start.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/recovery/block_scan.h"

namespace tapedeck::storage_node::recording {
namespace {

using format::SequenceRange;

// What may lie between the first block that is needed and the last that is there, or between that
// and the first that its worker still has. Rings of workers are far shorter; each block of it is
// remembered one by one.
constexpr uint64_t kMaxStartBlocks = 1 << 16;

// The lists of `start`, from what a recording of so many blocks has not.
void Divide(const format::Manifest& closed, uint64_t first, WriterStart* start) {
  start->next = std::max(first, closed.blocks);
  for (const SequenceRange& hole : closed.missing) {
    if (hole.first + hole.count <= first) continue;
    start->next = std::max(first, hole.first);
    break;
  }
  uint64_t end = start->next;  // of what is looked at
  for (const SequenceRange& hole : closed.missing) {
    if (hole.first < start->next) {
      const uint64_t count = std::min(hole.count, start->next - hole.first);
      format::AppendRange(&start->missing, {.first = hole.first, .count = count});
    }
    if (hole.first > end) start->there.push_back({.first = end, .count = hole.first - end});
    end = std::max(end, hole.first + hole.count);
  }
  if (closed.blocks > end) start->there.push_back({.first = end, .count = closed.blocks - end});
  if (first <= closed.blocks) return;
  format::AppendRange(&start->missing, {.first = closed.blocks, .count = first - closed.blocks});
}

// The last block that is there on a member.
std::optional<uint64_t> LastOn(const format::Manifest& closed, uint32_t member) {
  const uint64_t members = closed.members;
  uint64_t end = closed.blocks;
  auto hole = closed.missing.rbegin();
  while (true) {
    if (end <= member) return std::nullopt;
    const uint64_t last = (end - 1 - member) / members * members + member;
    while (hole != closed.missing.rend() && hole->first > last) ++hole;
    if (hole == closed.missing.rend() || hole->first + hole->count <= last) return last;
    end = hole->first;
  }
}

// Only the last block of a stream is short. One whose entry cannot be read counts as whole.
uint64_t PayloadOf(CallerLoop& loop, store::RecordingFiles& files, const format::Manifest& closed,
                   uint64_t sequence) {
  const format::EntryFormat format = closed.entries();
  index::Entries entries(1, absl::NotFoundError("never written"));
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    const auto bytes = Await<absl::StatusOr<store::Bytes>>(loop, [&](auto done) {
      files.ReadIndex(copy, format.Offset(sequence), format.entry_bytes, std::move(done));
    });
    if (bytes.ok()) index::MergeEntries(format, *bytes, sequence, copy, &entries);
  }
  return entries[0].ok() ? entries[0]->payload_bytes : closed.block_bytes;
}

std::vector<uint64_t> DataBytes(CallerLoop& loop, store::RecordingFiles& files,
                                const format::Manifest& closed) {
  std::vector<uint64_t> ends(closed.members);
  for (uint32_t member = 0; member < closed.members; ++member) {
    const auto last = LastOn(closed, member);
    if (!last.has_value()) continue;
    const format::Place place = format::PlaceOf(*last, closed.block_bytes, closed.members);
    ends[member] = place.offset + PayloadOf(loop, files, closed, *last);
  }
  return ends;
}

}  // namespace

uint64_t WriterStart::missing_blocks() const {
  uint64_t count = 0;
  for (const SequenceRange& range : missing) count += range.count;
  return count;
}

absl::Status ResumeRefused(absl::string_view recording, absl::string_view why,
                           absl::string_view text, std::optional<uint64_t> blocks) {
  std::map<std::string, std::string> metadata = {{"recording", std::string(recording)},
                                                 {"why", std::string(why)}};
  if (blocks.has_value()) metadata["blocks"] = absl::StrCat(*blocks);
  return services::WithReason(
      absl::FailedPreconditionError(absl::StrCat(recording, " cannot resume: ", text)),
      "RESUME_REFUSED", std::move(metadata));
}

absl::StatusOr<WriterStart> FindStart(store::Store& store, const store::RecordingPath& path,
                                      const format::Manifest& closed, uint64_t first,
                                      const dataplane::Clock& clock) {
  WriterStart start{.bytes = closed.bytes};
  Divide(closed, first, &start);
  const uint64_t beyond = std::max(closed.blocks, start.next) - start.next;
  if (first > closed.blocks + kMaxStartBlocks || beyond > kMaxStartBlocks) {
    return ResumeRefused(
        path.recording, "GAP",
        absl::StrCat("it has ", closed.blocks, " blocks and needs block ", start.next,
                     ", but its worker has only blocks from ", first, " on; record again"));
  }
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  start.watermark_generation = StoredWatermark(loop, *files, closed).generation;
  start.data_bytes = DataBytes(loop, *files, closed);
  return start;
}

format::Manifest Reopened(format::Manifest closed, const WriterStart& start) {
  closed.state = services::RecordingState::kRecording;
  closed.blocks = std::max(closed.blocks, start.next);
  closed.durable_watermark = start.next;
  closed.missing = start.missing;
  closed.end_time_ns = 0;
  closed.cause.clear();
  return closed;
}

}  // namespace tapedeck::storage_node::recording
