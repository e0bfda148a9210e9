// The contents of the catalog. These are the rows of its database, the changes in memory that the
// database has not taken yet, the health of the state directory, and the number of recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/now.h"
#include "storage_node/catalog/names.h"
#include "storage_node/catalog/rows.h"

namespace tapedeck::storage_node::catalog {

// Changes of rows that the state directory has not taken yet.
// One thread at a time.
class WaitingRows {
 public:
  struct Waiting {
    RowChange change;
    uint64_t number = 0;  // of all changes
    // How many recordings more there are with it than in the database: -1, 0 or 1.
    int more = 0;
    // Whether the recording is among those counted; none: that was not looked at.
    std::optional<bool> counted;
  };
  using Map = std::map<RowId, Waiting>;

  // The newest change of a row counts.
  void Keep(const RowId& id, RowChange change) {
    Waiting& row = rows_[id];
    bytes_ += change.bytes();
    bytes_ -= row.change.bytes();
    row.change = std::move(change);
    row.number = ++changes_;
  }
  void Drop(const RowId& id) {
    const auto it = rows_.find(id);
    if (it == rows_.end()) return;
    bytes_ -= it->second.change.bytes();
    rows_.erase(it);
  }
  // Null: the database says it.
  Waiting* Find(const RowId& id) {
    const auto it = rows_.find(id);
    return it == rows_.end() ? nullptr : &it->second;
  }
  const Waiting* Find(const RowId& id) const {
    const auto it = rows_.find(id);
    return it == rows_.end() ? nullptr : &it->second;
  }

  const Map& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  Map rows_;
  size_t bytes_ = 0;
  uint64_t changes_ = 0;
};

// A step of a list, whose documents are not decoded yet.
struct ListStep {
  std::vector<RawRow> rows;
  RowKey last;  // the next step begins after it
  bool end = false;
};

// Shared by the catalog and its StateThread, which may outlive it. A row that waits counts before
// the one of the database.
class Books {
 public:
  static absl::StatusOr<std::shared_ptr<Books>> Open(const std::string& path);

  // Any thread; these do not wait for the disk.

  // What catalog.h says of CheckTakes, health, waiting and Counts.
  absl::Status CheckTakes() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status health() const ABSL_LOCKS_EXCLUDED(mutex_);
  size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::map<std::string, uint64_t> Counts() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The change waits from here on, until it is written.
  void Keep(const RowId& id, RowChange change) ABSL_LOCKS_EXCLUDED(mutex_);
  // None: the database says it.
  std::optional<RowChange> Waits(const RowId& id) const ABSL_LOCKS_EXCLUDED(mutex_);
  // The state directory has not answered. DEADLINE_EXCEEDED (STATE_UNUSABLE), for who asked.
  absl::Status TellHanging() ABSL_LOCKS_EXCLUDED(mutex_);
  const std::string& directory() const { return directory_; }

  // On the state thread alone.

  // Runs an operation on these books, and looks at how the state directory did.
  template <typename Act>
  auto Watched(Act act) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Time begun = dataplane::SteadyTime();
    auto result = act(*this);
    Tell(StatusOf(result), dataplane::SteadyTime() - begun);
    return result;
  }

  // If the row waits. It goes on to wait after an error.
  absl::Status Write(const RowId& id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Some of what waits; if nothing does, that the state directory works.
  absl::Status WriteSome() ABSL_LOCKS_EXCLUDED(mutex_);
  Rows& rows() { return rows_; }
  // As of Rows, with what waits.
  absl::StatusOr<std::map<ResourceName, std::string>> Channels(const std::string& lun)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<ListStep> Step(const ResourceName& channel, const RowKey& after, size_t most)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::set<ResourceName>> CopiesOf(const std::string& original, size_t most)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<uint64_t> CountRecordings(const ResourceName& channel) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Books(Rows rows, std::string directory)
      : directory_(std::move(directory)), rows_(std::move(rows)) {}

  static absl::Status StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static absl::Status StatusOf(const absl::StatusOr<T>& result) {
    return result.status();
  }

  void Tell(const absl::Status& status, absl::Duration took) ABSL_LOCKS_EXCLUDED(mutex_);
  void Tell(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CountAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // Before the change is written.
  void Count(const RowId& id, bool put) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string directory_;
  Rows rows_;  // of the state thread

  mutable absl::Mutex mutex_;
  WaitingRows waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status health_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t> counts_ ABSL_GUARDED_BY(mutex_);
  bool miscounted_ ABSL_GUARDED_BY(mutex_) = false;  // a row could not be looked for
};

}  // namespace tapedeck::storage_node::catalog
