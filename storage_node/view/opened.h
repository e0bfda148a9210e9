// A recording that a user looks into: the lease that keeps it there, its files, its number of
// samples.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/view.h"
#include "storage_node/recordings/readable.h"
#include "storage_node/view/patience.h"
#include "storage_node/view/pieces.h"

namespace tapedeck::storage_node::view {

// Of one thread.
class Opened {
 public:
  // Waits for the disk: all that is done with it takes `limit` at most. The errors of
  // tapedeck/v1/view.proto.
  static absl::StatusOr<std::unique_ptr<Opened>> Open(recordings::Recordings& recordings,
                                                      const std::string& name,
                                                      absl::Duration limit);

  const recordings::Readable& readable() const { return readable_; }
  const format::Manifest& manifest() const { return readable_.recording.manifest; }
  const Extent& extent() const { return extent_; }
  Pieces& pieces() { return *pieces_; }
  // Those that were made so far.
  std::vector<services::Annotation> annotations() const;
  // Entries of these blocks, which ascend, by themselves.
  absl::StatusOr<std::vector<absl::StatusOr<format::IndexEntry>>> EntriesOf(
      const std::vector<uint64_t>& blocks);

  // The span with its end, where that is left open. INVALID_ARGUMENT (ARGUMENT_INVALID) unless it
  // lies in the recording.
  absl::StatusOr<services::SampleSpan> Resolve(const services::SampleSpan& span) const;

 private:
  Opened(recordings::Readable readable, const dataplane::Clock& clock, absl::Duration limit);
  absl::Status OpenFiles();
  absl::Status Measure();

  const recordings::Readable readable_;
  Patience patience_;
  std::unique_ptr<store::RecordingFiles> files_;
  Extent extent_;
  std::unique_ptr<Pieces> pieces_;
};

}  // namespace tapedeck::storage_node::view
