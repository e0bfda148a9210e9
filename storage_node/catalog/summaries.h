// The few fields of manifests that lists of a whole ring need. A row is decoded once, and again
// when its document has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/catalog/names.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::catalog {

struct Summary {
  static Summary Of(const ResourceName& name, const format::Manifest& manifest);

  ResourceName name;
  services::RecordingState state = services::RecordingState::kRecording;
  bool kept = false;
  std::string stream;  // empty: it is in none
  uint64_t segment = 0;
  int64_t end_time_ns = 0;
};
using SharedSummary = std::shared_ptr<const Summary>;

// Any thread; never waits for the disk.
class Summaries {
 public:
  // Beyond so many recordings, the rest is decoded each time. One takes 400 bytes.
  static constexpr size_t kMost = 65'536;

  // Of a row with this document. Errors are those of DecodeManifest.
  absl::StatusOr<SharedSummary> Of(const ResourceName& name, const std::string& document)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(const ResourceName& name) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Known {
    size_t hash = 0;  // of the document
    SharedSummary summary;
  };

  absl::Mutex mutex_;
  std::map<ResourceName, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::catalog
