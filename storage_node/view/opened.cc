#include "storage_node/view/opened.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/format/sigmf.h"

namespace tapedeck::storage_node::view {
namespace {

// Enough to keep a drive at work, and few where a stream is being written beside them.
constexpr size_t kReadsAtATime = 8;

}  // namespace

Opened::Opened(recordings::Readable readable, const dataplane::Clock& clock, absl::Duration limit)
    : readable_(std::move(readable)),
      patience_(clock, limit, absl::StrCat("luns/", readable_.recording.name.lun)) {}

absl::StatusOr<std::unique_ptr<Opened>> Opened::Open(recordings::Recordings& recordings,
                                                     const std::string& name,
                                                     absl::Duration limit) {
  TD_ASSIGN_OR_RETURN(recordings::Readable readable,
                      recordings::FindReadable(recordings, name, /*growing=*/true));
  std::unique_ptr<Opened> opened(new Opened(std::move(readable), recordings.luns().clock(), limit));
  TD_RETURN_IF_ERROR(opened->OpenFiles());
  TD_RETURN_IF_ERROR(opened->Measure());
  return opened;
}

absl::Status Opened::OpenFiles() {
  const recordings::FoundRecording& found = readable_.recording;
  const std::string& datatype = format::SampleTypeOf(manifest());
  const auto parsed = dataplane::ParseDatatype(datatype);
  if (!parsed.ok()) {
    return services::DatatypeInvalid(
        datatype, absl::StrCat(found.name.ToString(), ": ", parsed.status().message()));
  }
  const uint64_t sample_bytes = parsed->bytes_per_sample();
  extent_ = {.datatype = *parsed,
             .sample_bytes = sample_bytes,
             .block_samples = manifest().block_bytes / sample_bytes,
             .piece_samples = manifest().entries().piece_bytes / sample_bytes,
             .blocks = readable_.blocks()};
  TD_ASSIGN_OR_RETURN(files_, found.lun->store->Open(found.path(), {}, patience_.executor()));
  const bool lends = found.lun->kind.capabilities.lends_blocks;
  const store::RingSpec spec{.slots = lends ? 1 : kReadsAtATime,
                             .slot_bytes = lends ? manifest().block_bytes : kReadBytes,
                             .playback = true};
  TD_ASSIGN_OR_RETURN(auto ring, found.lun->store->MakeRing(spec));
  pieces_ = std::make_unique<Pieces>(PiecesOptions{.files = *files_,
                                                   .ring = std::move(ring),
                                                   .manifest = manifest(),
                                                   .extent = extent_,
                                                   .whole_blocks = lends},
                                     patience_);
  return absl::OkStatus();
}

// The last block may be a short one.
absl::Status Opened::Measure() {
  extent_.samples = extent_.blocks * extent_.block_samples;
  if (extent_.blocks == 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto last, EntriesOf({extent_.blocks - 1}));
  if (!last[0].ok() || last[0]->payload_bytes == 0) return absl::OkStatus();
  extent_.samples -= extent_.block_samples - last[0]->payload_bytes / extent_.sample_bytes;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<absl::StatusOr<format::IndexEntry>>> Opened::EntriesOf(
    const std::vector<uint64_t>& blocks) {
  Entries entries(*files_, manifest().entries(), patience_);
  TD_RETURN_IF_ERROR(entries.Fetch(blocks));
  std::vector<absl::StatusOr<format::IndexEntry>> found;
  for (const uint64_t block : blocks) found.push_back(entries.At(block));
  return found;
}

std::vector<services::Annotation> Opened::annotations() const {
  return readable_.live == nullptr ? manifest().annotations : readable_.live->notes().annotations;
}

absl::StatusOr<services::SampleSpan> Opened::Resolve(const services::SampleSpan& span) const {
  const uint64_t samples = extent_.samples;
  const auto has = [&] {
    return absl::StrCat(readable_.recording.name.ToString(), " has ", samples, " samples");
  };
  if (span.first >= samples) {
    return services::ArgumentInvalid("first_sample",
                                     absl::StrCat("first_sample ", span.first, ": ", has()));
  }
  if (span.count > samples - span.first) {
    return services::ArgumentInvalid(
        "sample_count",
        absl::StrCat("sample_count ", span.count, " from ", span.first, ": ", has()));
  }
  return services::SampleSpan{.first = span.first,
                              .count = span.count == 0 ? samples - span.first : span.count};
}

}  // namespace tapedeck::storage_node::view
