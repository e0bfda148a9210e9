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
#include "storage_node/catalog/names.h"
#include "storage_node/catalog/rows.h"
#include "storage_node/catalog/waiting_rows.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::catalog {

struct RecordingRow {
  ResourceName name;
  format::Manifest manifest;
};

// Any thread. Names are of the kind the call is about; ids of queries may be "-" for all.
//
// The files are the truth, so a change has happened when they say so. The catalog takes each: if
// the database fails, the change waits in memory, every answer has it, and Retry writes it. If the
// process ends before, the next opening of the LUN reads it from the files again; a request_id is
// forgotten then. Queries fail if the database cannot be read (STATE_UNUSABLE).
class Catalog {
 public:
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(const std::string& path);
  // Tries once more to write what waits.
  ~Catalog();

  // For whoever is about to change files. RESOURCE_EXHAUSTED (STATE_UNUSABLE): the state directory
  // fails, and too many changes wait for it. Who has begun may end, whatever this says.
  absl::Status CheckTakes() const ABSL_LOCKS_EXCLUDED(health_mutex_);

  void PutChannel(const ResourceName& name, const services::Channel& channel);
  absl::StatusOr<std::optional<services::Channel>> GetChannel(const ResourceName& name);
  // By name.
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& lun);
  void DeleteChannel(const ResourceName& name);

  void PutRecording(const ResourceName& name, const format::Manifest& manifest);
  absl::StatusOr<std::optional<format::Manifest>> GetRecording(const ResourceName& name);
  // Newest first, then by name. Other calls go on meanwhile: what is put or deleted then may be
  // there or not.
  absl::StatusOr<std::vector<RecordingRow>> ListRecordings(const ResourceName& channel) {
    return RecordingsAfter(channel, {}, SIZE_MAX);
  }
  // At most `most` of those that come after `after` in that order.
  absl::StatusOr<std::vector<RecordingRow>> RecordingsAfter(const ResourceName& channel,
                                                            RowKey after, size_t most);
  void DeleteRecording(const ResourceName& name);
  // At most `most` recordings that say they are copies of `original`, or of a copy of it, by name.
  // One may be gone.
  absl::StatusOr<std::vector<ResourceName>> CopiesOf(const std::string& original, size_t most);
  absl::StatusOr<uint64_t> CountRecordings(const ResourceName& channel);
  // By LUN, of those that have some. From memory: it never waits for the disk.
  std::map<std::string, uint64_t> Counts() const ABSL_LOCKS_EXCLUDED(health_mutex_);

  void RememberRequest(const std::string& id, const PastRequest& request);
  absl::StatusOr<std::optional<PastRequest>> FindRequest(const std::string& id);

  // Writes what waits, or tries whether the state directory works again. The error that it met.
  absl::Status Retry() ABSL_LOCKS_EXCLUDED(mutex_);

  // How the state directory does. Neither waits for it.
  //
  // STATE_UNUSABLE: the last operation failed, or took too long (DEADLINE_EXCEEDED).
  absl::Status health() const ABSL_LOCKS_EXCLUDED(health_mutex_);
  size_t waiting() const ABSL_LOCKS_EXCLUDED(health_mutex_);  // changes

 private:
  // A step of a list, whose documents are not decoded yet.
  struct Step {
    std::vector<RawRow> rows;
    RowKey last;  // the next step begins after it
    bool end = false;
  };

  Catalog(Rows rows, std::string directory)
      : directory_(std::move(directory)), rows_(std::move(rows)) {}

  Step Merge(const ResourceName& channel, const RowKey& after, size_t most,
             std::vector<RawRow> stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Step> ReadStep(const ResourceName& channel, const RowKey& after, size_t most)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs an operation on the rows, and looks at how the state directory did.
  template <typename Act>
  auto Watched(Act act) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) ABSL_LOCKS_EXCLUDED(health_mutex_);
  void Change(const RowId& id, RowChange change) ABSL_LOCKS_EXCLUDED(mutex_);
  void Keep(const RowId& id, RowChange change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of recordings, before the change.
  void Count(const RowId& id, bool put) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_)
      ABSL_LOCKS_EXCLUDED(health_mutex_);
  absl::Status WriteSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CountAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_)
      ABSL_LOCKS_EXCLUDED(health_mutex_);

  const std::string directory_;
  absl::Mutex mutex_;
  Rows rows_ ABSL_GUARDED_BY(mutex_);
  WaitingRows waiting_ ABSL_GUARDED_BY(mutex_);
  bool miscounted_ ABSL_GUARDED_BY(mutex_) = false;  // a row could not be looked for

  // What is told without the disk. Taken after mutex_.
  mutable absl::Mutex health_mutex_;
  absl::Status health_ ABSL_GUARDED_BY(health_mutex_);
  size_t waiting_rows_ ABSL_GUARDED_BY(health_mutex_) = 0;
  size_t waiting_bytes_ ABSL_GUARDED_BY(health_mutex_) = 0;
  std::map<std::string, uint64_t> counts_ ABSL_GUARDED_BY(health_mutex_);
};

}  // namespace tapedeck::storage_node::catalog
