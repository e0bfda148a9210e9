#include "storage_node/moving/compare.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/moving/drafts.h"
#include "storage_node/moving/reading.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::moving {
namespace {

absl::Status NotWhole(const recordings::FoundRecording& source,
                      const recordings::FoundRecording& copy, const std::string& why) {
  const std::string name = copy.name.ToString();
  return services::BlockDamaged(
      {.recording = name, .blocks = 1},
      absl::StrCat(name, " is no whole copy of ", source.name.ToString(), ": ", why));
}

bool IsSame(const dataplane::BlockHeader& copied, const format::IndexEntry& recorded) {
  return copied.crc32c == recorded.payload_crc32c &&
         copied.payload_bytes == recorded.payload_bytes &&
         copied.sample_index == recorded.sample_index && copied.capture_ns == recorded.capture_ns &&
         copied.flags == recorded.flags;
}

// What the index of a recording says of its blocks.
class Entries {
 public:
  static absl::StatusOr<std::unique_ptr<Entries>> Open(const recordings::FoundRecording& found,
                                                       recording::CallerLoop& loop) {
    TD_ASSIGN_OR_RETURN(auto files, found.lun->store->OpenRecording(found.path(), loop));
    return std::unique_ptr<Entries>(new Entries(found.manifest, std::move(files), loop));
  }

  absl::StatusOr<format::IndexEntry> Of(uint64_t sequence) {
    return recording::AwaitEntry(loop_, index_, sequence);
  }

 private:
  Entries(const format::Manifest& manifest, std::unique_ptr<store::RecordingFiles> files,
          recording::CallerLoop& loop)
      : loop_(loop),
        files_(std::move(files)),
        entries_(manifest.entries()),
        index_(*files_, entries_, [] {}) {}

  recording::CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const format::EntryFormat entries_;
  index::IndexReader index_;
};

absl::Status CompareBlock(const recordings::FoundRecording& source,
                          const recordings::FoundRecording& copy, const dataplane::Block& read,
                          Entries& entries) {
  const uint64_t sequence = read.header().sequence;
  const auto differs = [&](absl::string_view why) {
    return NotWhole(source, copy, absl::StrCat("block ", sequence, " ", why));
  };
  const bool missing = services::copying::IsMissing(read.header());
  if (format::HasSequence(source.manifest.missing, sequence)) {
    return missing ? absl::OkStatus() : differs("is none of the original");
  }
  if (missing) return differs("is missing or damaged");
  TD_ASSIGN_OR_RETURN(const format::IndexEntry entry, entries.Of(sequence));
  return IsSame(read.header(), entry) ? absl::OkStatus() : differs("is another one");
}

}  // namespace

absl::Status CompareCopy(const recordings::FoundRecording& source,
                         const recordings::FoundRecording& copy, const dataplane::Clock& clock,
                         services::copying::Pace& pace) {
  const format::Manifest& original = source.manifest;
  if (!IsWhole(copy.manifest, original) || copy.manifest.missing != original.missing ||
      copy.manifest.block_bytes != original.block_bytes ||
      copy.manifest.datatype != original.datatype) {
    return NotWhole(source, copy,
                    absl::StrCat("it has ", copy.manifest.blocks, " blocks, ",
                                 copy.manifest.missing_blocks(), " of them missing"));
  }
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto entries, Entries::Open(source, loop));
  TD_ASSIGN_OR_RETURN(const services::copying::NextBlock next, Read(copy, loop));
  return services::copying::PumpBlocks(
      {.recording = copy.name.ToString(), .end = original.blocks}, next,
      [&](const dataplane::Block& read) { return CompareBlock(source, copy, read, *entries); },
      pace);
}

}  // namespace tapedeck::storage_node::moving
