// Where a recording continues whose session was lost: the blocks that are there, the blocks that
// are missing for good, and the block that its writer needs next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

// The default is that of a new recording.
struct WriterStart {
  uint64_t next = 0;                           // every block below is there or missing for good
  std::vector<format::SequenceRange> missing;  // of those
  std::vector<format::SequenceRange> there;    // from `next` on, in order
  uint64_t bytes = 0;
  std::vector<uint64_t> data_bytes;  // used on each member; empty: nothing is
  uint64_t watermark_generation = 0;

  uint64_t missing_blocks() const;
};

// FAILED_PRECONDITION (RESUME_REFUSED). `blocks`: so many it has, of one that is sealed.
absl::Status ResumeRefused(absl::string_view recording, absl::string_view why,
                           absl::string_view text, std::optional<uint64_t> blocks = std::nullopt);

// Waits for the disk. `closed` is the manifest of a closed recording; its worker has all blocks
// from `first` on, and no others. RESUME_REFUSED (GAP) if it has forgotten more than any worker
// would.
absl::StatusOr<WriterStart> FindStart(store::Store& store, const store::RecordingPath& path,
                                      const format::Manifest& closed, uint64_t first,
                                      const dataplane::Clock& clock);

// As the writer begins with it.
format::Manifest Reopened(format::Manifest closed, const WriterStart& start);

}  // namespace tapedeck::storage_node::recording
