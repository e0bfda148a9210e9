// Answers queries about recordings, and about channels of LUNs that are offline, without touching
// their files. A cache: each row repeats one channel.json or manifest.json, and all can be made
// again from those.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/catalog.h"
#include "storage_node/catalog/database.h"
#include "storage_node/catalog/names.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::catalog {

struct RecordingRow {
  ResourceName name;
  format::Manifest manifest;
};

// A place in the order of rows; the default comes before all.
struct RowKey {
  int64_t start_ns = INT64_MAX;
  ResourceName name;
};

// What a request_id did.
struct PastRequest {
  std::string kind;
  std::string name;
};

// Any thread. Names are of the kind the call is about; ids of queries may be "-" for all.
class Catalog {
 public:
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(const std::string& path);

  absl::Status PutChannel(const ResourceName& name, const services::Channel& channel);
  absl::StatusOr<std::optional<services::Channel>> GetChannel(const ResourceName& name);
  // By name.
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& lun);
  absl::Status DeleteChannel(const ResourceName& name);

  absl::Status PutRecording(const ResourceName& name, const format::Manifest& manifest);
  absl::StatusOr<std::optional<format::Manifest>> GetRecording(const ResourceName& name);
  // Newest first, then by name. Other calls go on meanwhile: what is put or deleted then may be
  // there or not.
  absl::StatusOr<std::vector<RecordingRow>> ListRecordings(const ResourceName& channel) {
    return RecordingsAfter(channel, {}, SIZE_MAX);
  }
  // At most `most` of those that come after `after` in that order.
  absl::StatusOr<std::vector<RecordingRow>> RecordingsAfter(const ResourceName& channel,
                                                            RowKey after, size_t most);
  absl::Status DeleteRecording(const ResourceName& name);
  // At most `most` recordings that say they are copies of `original`, or of a copy of it, by name.
  // One may be gone.
  absl::StatusOr<std::vector<ResourceName>> CopiesOf(const std::string& original, size_t most);
  absl::StatusOr<uint64_t> CountRecordings(const ResourceName& channel);
  // By LUN, of those that have some. From memory: it never waits for the disk.
  std::map<std::string, uint64_t> Counts() const ABSL_LOCKS_EXCLUDED(counts_mutex_);

  absl::Status RememberRequest(const std::string& id, const PastRequest& request);
  absl::StatusOr<std::optional<PastRequest>> FindRequest(const std::string& id);

 private:
  // A row whose document is not decoded yet.
  struct RawRow {
    RowKey key;
    std::string document;
  };

  // A step of a list: some of the rows after `after`, none at the end.
  absl::StatusOr<std::vector<RawRow>> ReadRows(const ResourceName& channel, const RowKey& after,
                                               size_t most) ABSL_LOCKS_EXCLUDED(mutex_);

  explicit Catalog(Database database) : database_(std::move(database)) {}

  // Runs a statement that gives no rows, with `texts` bound in order.
  absl::Status Change(const char* sql, const std::vector<std::string>& texts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::StatusOr<bool> HasRecording(const ResourceName& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CountAll() ABSL_LOCKS_EXCLUDED(mutex_, counts_mutex_);
  void Count(const std::string& lun, int64_t more) ABSL_LOCKS_EXCLUDED(counts_mutex_);

  absl::Mutex mutex_;
  Database database_ ABSL_GUARDED_BY(mutex_);
  mutable absl::Mutex counts_mutex_;
  std::map<std::string, uint64_t> counts_ ABSL_GUARDED_BY(counts_mutex_);
};

}  // namespace tapedeck::storage_node::catalog
