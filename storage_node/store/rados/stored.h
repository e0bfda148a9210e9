// A recording as a rados LUN has it: its head, and where its payload and its index lie.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/store/known.h"
#include "storage_node/store/rados/cluster.h"
#include "storage_node/store/rados/holding.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::rados {

// An index object holds so many bytes: 65536 entries.
inline constexpr uint64_t kIndexObjectBytes = 4 << 20;

// Of the store, which outlives its recordings.
struct StoreParts {
  Cluster& cluster;
  const Holding& holding;
  services::TaskThread& io;    // gives operations to librados
  services::TaskThread& slow;  // waits for them
};

// A run of bytes within one object.
struct Piece {
  std::string object;
  uint64_t offset = 0;
  size_t bytes = 0;
};

// Any thread, and all but what is said to wait never does. Held by shared_ptr: by the store's list,
// by open files and by operations under way.
class StoredRecording {
 public:
  // Wait. ALREADY_EXISTS; NOT_FOUND; FAILED_PRECONDITION: it is not of the LUN of that uid.
  static absl::StatusOr<std::shared_ptr<StoredRecording>> Create(const StoreParts& parts,
                                                                 const RecordingPath& path,
                                                                 uint64_t block_bytes,
                                                                 const std::string& lun_uid);
  static absl::StatusOr<std::shared_ptr<StoredRecording>> Open(const StoreParts& parts,
                                                               const RecordingPath& path,
                                                               const std::string& lun_uid);

  const StoreParts& parts() const { return parts_; }
  const std::string& key() const { return key_; }

  // Where a block begins, and how many objects there must be for it. No block lies in two.
  Piece DataAt(uint64_t offset, size_t bytes) const;
  uint64_t DataObjectsFor(uint64_t offset) const { return offset / object_bytes_ + 1; }
  uint64_t object_bytes() const { return object_bytes_; }
  Piece IndexAt(uint64_t offset, size_t bytes) const;
  static uint64_t IndexObjectsFor(uint64_t end) {
    return (end + kIndexObjectBytes - 1) / kIndexObjectBytes;
  }

  // So many may be there: none is written that the head does not count, so that all are found
  // again.
  uint64_t data_objects() const;
  uint64_t index_objects() const;

  // Each write of payload or index lies between these two: cutting and deleting wait for them.
  void BeginWrite();
  void EndWrite();

  // Calls `counted` on the slow thread once the head counts so many data objects, or cannot. All
  // that wait share one try: on a cluster that does not answer they end with it together.
  using Counted = absl::AnyInvocable<void(const absl::Status&)>;
  static void CountDataFor(const std::shared_ptr<StoredRecording>& stored, uint64_t objects,
                           Counted counted);

  // Wait.
  absl::Status CountIndex(uint64_t objects);
  absl::StatusOr<Bytes> ReadIndex(uint64_t offset, size_t bytes) const;
  absl::Status Trim(uint64_t data_bytes, uint64_t index_bytes);
  absl::Status WriteManifest(const std::string& text);
  absl::StatusOr<std::string> ReadManifest() const;
  // The head goes last.
  absl::Status Remove();

 private:
  StoredRecording(const StoreParts& parts, std::string key) : parts_(parts), key_(std::move(key)) {}
  struct Waiting {
    uint64_t objects;
    Counted counted;
  };
  void CountForWaiting();
  // Those that `tried` has settled. Empty: there is nobody left.
  std::vector<Waiting> Settled(const absl::Status& tried, uint64_t objects);
  absl::Status CountData(uint64_t objects);
  absl::Status Count(uint64_t data, uint64_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(updating_);
  absl::Status AwaitWrites();
  // Payload, if it is there and longer, is cut; the rest is made that long.
  absl::Status SetLength(Cluster::Part part, const std::string& object, uint64_t bytes);
  absl::Status RemoveObjects(Cluster::Part part, uint64_t first, uint64_t end,
                             absl::FunctionRef<std::string(uint64_t)> name);
  // From that number on.
  absl::Status RemoveData(uint64_t first);
  absl::Status RemoveIndex(uint64_t first);

  const StoreParts parts_;
  const std::string key_;
  uint64_t object_bytes_ = 0;
  absl::Mutex updating_;  // the head; taken before mutex_
  mutable absl::Mutex mutex_;
  uint64_t data_objects_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t index_objects_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool counting_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tapedeck::storage_node::store::rados
