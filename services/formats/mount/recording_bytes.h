// The samples of a recording on a storage node, as the bytes of a file that any part may be read
// of: pieces of it are kept for a while. Any thread; each call waits for the node, at most for as
// long as its client does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "services/model/seams/view.h"

namespace tapedeck::services::mount {

class RecordingBytes {
 public:
  struct Settings {
    std::string recording;
    bool gaps = false;                        // what is missing or damaged reads as zeros
    const dataplane::Clock* clock = nullptr;  // outlives it
  };
  // DATATYPE_INVALID; the errors of the node.
  static absl::StatusOr<std::unique_ptr<RecordingBytes>> Open(std::unique_ptr<ViewControl> view,
                                                              Settings settings);

  // Those that are durable; of a recording that grows as it was half a second ago at most.
  absl::StatusOr<uint64_t> Size() ABSL_LOCKS_EXCLUDED(mutex_);

  // As many as there are, from `offset` on. DATA_LOSS (BLOCK_DAMAGED): some of them are missing or
  // damaged.
  absl::StatusOr<size_t> Read(uint64_t offset, std::span<std::byte> into)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks the node, whatever is known.
  absl::StatusOr<Timeline> Refresh() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Samples side by side, as many as one call brings.
  struct Piece {
    uint64_t number = 0;
    std::string bytes;
    std::vector<SampleSpan> missing;
  };

  RecordingBytes(std::unique_ptr<ViewControl> view, Settings settings, size_t sample_bytes)
      : view_(std::move(view)), settings_(std::move(settings)), sample_bytes_(sample_bytes) {}

  absl::StatusOr<std::shared_ptr<const Piece>> Find(uint64_t number, uint64_t samples)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckWhole(const Piece& piece, uint64_t first, uint64_t end) const;

  const std::unique_ptr<ViewControl> view_;
  const Settings settings_;
  const size_t sample_bytes_;

  absl::Mutex mutex_;
  uint64_t samples_ ABSL_GUARDED_BY(mutex_) = 0;
  bool grows_ ABSL_GUARDED_BY(mutex_) = true;
  int64_t asked_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  // The newest first. Shared with whoever reads them just now.
  std::list<std::shared_ptr<const Piece>> pieces_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::mount
