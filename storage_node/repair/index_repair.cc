#include "storage_node/repair/index_repair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/damage.h"
#include "storage_node/index/index_record.h"
#include "storage_node/recording/caller_loop.h"

namespace tapedeck::storage_node::repair {
namespace {

// Whole pages of index whatever an entry's size: 32 KiB for blocks up to 1 MiB.
constexpr uint64_t kRepairedAtATime = 256;

// Records of one size that lie side by side.
struct Range {
  uint64_t offset = 0;
  size_t record_bytes = 0;
  size_t records = 0;

  uint64_t OffsetOf(size_t i) const { return offset + i * record_bytes; }
  bool of_pages() const { return offset < format::kEntriesOffset; }
};

constexpr Range kPages = {
    .offset = 0, .record_bytes = format::kPageBytes, .records = 3};  // header, two watermarks

using Records = std::vector<absl::StatusOr<index::IndexRecord>>;
using Copies = std::vector<Records>;

// The first copy that has record `i` in good order.
std::optional<uint32_t> SoundCopy(const Copies& copies, size_t i) {
  for (uint32_t copy = 0; copy < copies.size(); ++copy) {
    if (copies[copy][i].ok()) return copy;
  }
  return std::nullopt;
}

// One recording, on the calling thread.
class IndexRepair {
 public:
  IndexRepair(std::unique_ptr<store::RecordingFiles> files, const format::Manifest& manifest,
              absl::Mutex& writing, recording::CallerLoop& loop)
      : loop_(loop),
        files_(std::move(files)),
        manifest_(manifest),
        layout_(manifest),
        writing_(writing) {}

  absl::Status Run(uint64_t first, const std::function<bool(const RepairProgress&)>& report);

 private:
  void CheckPages();
  // What it found, before it repaired anything.
  Copies CheckRange(const Range& range);
  Copies Read(const Range& range);
  // Records `begin` to `end` of one copy. Of what the disk does not give in one piece the halves
  // are read, down to a record.
  void Read(const Range& range, uint32_t copy, size_t begin, size_t end, Records* into);
  // Whether two sound records of one place say the same.
  bool Agree(const index::IndexRecord& a, const index::IndexRecord& b) const;
  bool AllAgree(const Copies& copies) const;
  // Reports what nobody can decide: no copy of the header is sound, or two of a record differ.
  void FindUndecided(const Range& range, const Copies& copies);
  void Repair(const Range& range, const Copies& copies, uint32_t copy);
  // Rewrites the records `bad` of one copy, makes them durable and reads them back. What each ended
  // with.
  std::vector<absl::Status> Rewrite(const Range& range, const Copies& copies, uint32_t copy,
                                    const std::vector<size_t>& bad);
  // The neighbours `run`.
  absl::Status Write(const Range& range, const Copies& copies, uint32_t copy,
                     std::span<const size_t> run);
  void Found(const Range& range, size_t i, std::string detail, bool repaired);

  recording::CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const format::Manifest& manifest_;
  const index::IndexLayout layout_;
  absl::Mutex& writing_;
  std::optional<format::Watermark> newest_;  // of all copies
  absl::Status flush_error_;                 // after one nothing that is written can be believed
  RepairProgress progress_;
};

void IndexRepair::Found(const Range& range, size_t i, std::string detail, bool repaired) {
  services::DamagedBlock block{
      .kind = range.of_pages() ? services::DamageKind::kHeader : services::DamageKind::kIndex,
      .detail = std::move(detail)};
  if (!range.of_pages()) {
    block.sequence = (range.OffsetOf(i) - format::kEntriesOffset) / range.record_bytes;
  }
  progress_.damaged.push_back({.block = std::move(block), .repaired = repaired});
}

void IndexRepair::Read(const Range& range, uint32_t copy, size_t begin, size_t end, Records* into) {
  const size_t wanted = (end - begin) * range.record_bytes;
  const auto bytes = recording::Await<absl::StatusOr<store::Bytes>>(loop_, [&](auto done) {
    files_->ReadIndex(copy, range.OffsetOf(begin), wanted, std::move(done));
  });
  progress_.bytes += wanted;
  if (!bytes.ok() && end - begin > 1) {
    const size_t middle = begin + (end - begin) / 2;
    Read(range, copy, begin, middle, into);
    return Read(range, copy, middle, end, into);
  }
  for (size_t i = begin; i < end; ++i) {
    absl::StatusOr<index::IndexRecord>& record = (*into)[i];
    const size_t at = (i - begin) * range.record_bytes;
    if (!bytes.ok()) {
      record = bytes.status();
    } else if (at + range.record_bytes > bytes->size()) {
      record = absl::DataLossError(absl::StrCat("index copy ", copy, ": the file ends at byte ",
                                                range.OffsetOf(begin) + bytes->size()));
    } else {
      const auto span = std::span(*bytes).subspan(at, range.record_bytes);
      record = layout_.Decode(range.OffsetOf(i), span, copy);
    }
  }
}

Copies IndexRepair::Read(const Range& range) {
  const absl::StatusOr<index::IndexRecord> unread = absl::UnknownError("not read");
  Copies copies(files_->index_copies(), Records(range.records, unread));
  for (uint32_t copy = 0; copy < copies.size(); ++copy) {
    Read(range, copy, 0, range.records, &copies[copy]);
    for (const auto& record : copies[copy]) {
      const auto* watermark = record.ok() ? std::get_if<format::Watermark>(&*record) : nullptr;
      if (watermark == nullptr) continue;
      if (newest_.has_value() && newest_->generation >= watermark->generation) continue;
      newest_ = *watermark;
    }
  }
  return copies;
}

// A crash may leave different watermarks on the page that the last one is not on; nobody reads it.
bool IndexRepair::Agree(const index::IndexRecord& a, const index::IndexRecord& b) const {
  if (a == b) return true;
  const auto* one = std::get_if<format::Watermark>(&a);
  const auto* other = std::get_if<format::Watermark>(&b);
  return one != nullptr && other != nullptr && one->generation < newest_->generation &&
         other->generation < newest_->generation;
}

bool IndexRepair::AllAgree(const Copies& copies) const {
  for (const Records& records : copies) {
    for (size_t i = 0; i < records.size(); ++i) {
      const auto& first = copies[0][i];
      if (first.ok() != records[i].ok()) return false;
      if (first.ok() && !Agree(*first, *records[i])) return false;
    }
  }
  return true;
}

void IndexRepair::CheckPages() {
  const Copies copies = CheckRange(kPages);
  if (newest_.has_value() && newest_->durable == manifest_.durable_watermark) return;
  const std::string instead = newest_.has_value()
                                  ? absl::StrCat("the newest says ", newest_->durable)
                                  : std::string(copies[0][1].status().message());
  Found(kPages, 1,
        absl::StrCat("no watermark page says ", manifest_.durable_watermark,
                     ", as the manifest does: ", instead),
        false);
}

void IndexRepair::FindUndecided(const Range& range, const Copies& copies) {
  for (size_t i = 0; i < range.records; ++i) {
    const auto sound = SoundCopy(copies, i);
    // CheckPages judges the watermark pages, verification the entries.
    const bool of_header = range.OffsetOf(i) == 0;
    for (uint32_t copy = 0; copy < copies.size(); ++copy) {
      const auto& record = copies[copy][i];
      if (!sound.has_value()) {
        if (of_header) Found(range, i, std::string(record.status().message()), false);
      } else if (record.ok() && !Agree(*copies[*sound][i], *record)) {
        Found(range, i,
              absl::StrCat("index copies ", *sound, " and ", copy, " differ at byte ",
                           range.OffsetOf(i), " although each is sound; neither was rewritten"),
              false);
      }
    }
  }
}

Copies IndexRepair::CheckRange(const Range& range) {
  Copies copies = Read(range);
  if (!AllAgree(copies)) {
    // Another scrub may have been rewriting it, or the read was bad: a second look decides.
    absl::MutexLock lock(&writing_);
    copies = Read(range);
    // One after the other: whatever a power cut does to the copy being written, the other one is on
    // the disk.
    for (uint32_t copy = 0; copy < copies.size(); ++copy) Repair(range, copies, copy);
  }
  FindUndecided(range, copies);
  return copies;
}

void IndexRepair::Repair(const Range& range, const Copies& copies, uint32_t copy) {
  std::vector<size_t> bad;
  for (size_t i = 0; i < range.records; ++i) {
    if (!copies[copy][i].ok() && SoundCopy(copies, i).has_value()) bad.push_back(i);
  }
  if (bad.empty()) return;
  const std::vector<absl::Status> ends = Rewrite(range, copies, copy, bad);
  for (size_t n = 0; n < bad.size(); ++n) {
    const auto found = copies[copy][bad[n]].status().message();
    const std::string outcome =
        ends[n].ok() ? absl::StrCat("rewritten from copy ", *SoundCopy(copies, bad[n]))
                     : absl::StrCat("rewriting it failed: ", ends[n].message());
    Found(range, bad[n], absl::StrCat(found, "; copy ", copy, ": ", outcome), ends[n].ok());
  }
}

std::vector<absl::Status> IndexRepair::Rewrite(const Range& range, const Copies& copies,
                                               uint32_t copy, const std::vector<size_t>& bad) {
  std::vector<absl::Status> ends(bad.size(), flush_error_);
  if (!flush_error_.ok()) return ends;
  for (size_t begin = 0, end = 0; begin < bad.size(); begin = end) {
    for (end = begin + 1; end < bad.size() && bad[end] == bad[end - 1] + 1;) ++end;
    const auto run = std::span(bad).subspan(begin, end - begin);
    const absl::Status status = Write(range, copies, copy, run);
    std::fill_n(ends.begin() + static_cast<ptrdiff_t>(begin), run.size(), status);
  }
  flush_error_ =
      recording::Await<absl::Status>(loop_, [&](auto done) { files_->Flush(std::move(done)); });
  Records back(range.records, absl::UnknownError("not read"));
  Read(range, copy, 0, range.records, &back);
  for (size_t n = 0; n < bad.size(); ++n) {
    ends[n].Update(flush_error_);
    ends[n].Update(back[bad[n]].status());
    if (ends[n].ok() && *back[bad[n]] != *copies[*SoundCopy(copies, bad[n])][bad[n]]) {
      ends[n] = absl::DataLossError("the data read back differs from the data written");
    }
  }
  return ends;
}

absl::Status IndexRepair::Write(const Range& range, const Copies& copies, uint32_t copy,
                                std::span<const size_t> run) {
  store::Bytes bytes(run.size() * range.record_bytes);
  for (size_t n = 0; n < run.size(); ++n) {
    layout_.Encode(*copies[*SoundCopy(copies, run[n])][run[n]], copy,
                   std::span(bytes).subspan(n * range.record_bytes, range.record_bytes));
  }
  absl::Status status;
  for (int attempt = 0; attempt < 2; ++attempt) {
    progress_.bytes += bytes.size();
    status = recording::Await<absl::Status>(loop_, [&](auto done) {
      files_->WriteIndex(copy, range.OffsetOf(run.front()), bytes, std::move(done));
    });
    if (status.ok() || absl::IsResourceExhausted(status)) break;
  }
  return status;
}

absl::Status IndexRepair::Run(uint64_t first,
                              const std::function<bool(const RepairProgress&)>& report) {
  if (files_->index_copies() < 2 || manifest_.blocks == 0) return absl::OkStatus();
  CheckPages();
  // Where these are damaged the whole copy may be, whatever an earlier run found in it.
  if (!progress_.damaged.empty()) first = 0;
  const format::EntryFormat& entries = layout_.entries();
  for (uint64_t next = first; next < manifest_.blocks; next += kRepairedAtATime) {
    if (!report(std::exchange(progress_, {}))) return absl::CancelledError("repair stopped");
    CheckRange({.offset = entries.Offset(next),
                .record_bytes = entries.entry_bytes,
                .records = std::min(kRepairedAtATime, manifest_.blocks - next)});
  }
  if (!report(std::exchange(progress_, {}))) return absl::CancelledError("repair stopped");
  return absl::OkStatus();
}

}  // namespace

absl::Status RepairIndex(store::Store& store, const store::RecordingPath& path,
                         const format::Manifest& manifest, uint64_t first,
                         const dataplane::Clock& clock, absl::Mutex& writing,
                         const std::function<bool(const RepairProgress&)>& report) {
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.Open(path, {}, loop));
  return IndexRepair(std::move(files), manifest, writing, loop).Run(first, report);
}

}  // namespace tapedeck::storage_node::repair
