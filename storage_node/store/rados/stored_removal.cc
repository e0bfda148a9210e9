// What is cut off a recording's objects, or removed. All of it waits.
#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/rados/names.h"
#include "storage_node/store/rados/stored.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// Three times what one has.
constexpr absl::Duration kLongestWrites = absl::Seconds(90);
// Objects that are removed at a time.
constexpr uint64_t kRemovals = 32;

}  // namespace

// Each ends by the cluster's timeout.
absl::Status StoredRecording::AwaitWrites() {
  dataplane::MayWait("a recording's writes");
  absl::MutexLock lock(&mutex_);
  const absl::Condition none(
      +[](uint64_t* writes) { return *writes == 0; }, &writes_);
  if (dataplane::AwaitFor(mutex_, none, kLongestWrites)) return absl::OkStatus();
  return disk::StoreIo(
      parts_.cluster.member(), "write",
      absl::StrCat(parts_.cluster.member(), " ", key_, ": ", writes_,
                   " writes have not ended after ", absl::FormatDuration(kLongestWrites)));
}

absl::Status StoredRecording::SetLength(Cluster::Part part, const std::string& object,
                                        uint64_t bytes) {
  const bool at_most = part == Cluster::Part::kPayload;
  uint64_t now = 0;
  const int found = parts_.cluster.SizeOf(object, &now, part);
  if (found < 0 && found != -ENOENT) return parts_.cluster.Error("stat", object, found);
  if (found == 0 ? now == bytes || (at_most && now < bytes) : at_most) return absl::OkStatus();
  librados::ObjectWriteOperation op;
  op.create(false);
  op.truncate(bytes);
  const int r = parts_.cluster.Operate(object, op, part);
  return r < 0 ? parts_.cluster.Error("truncate", object, r) : absl::OkStatus();
}

absl::Status StoredRecording::RemoveObjects(Cluster::Part part, uint64_t first, uint64_t end,
                                            absl::FunctionRef<std::string(uint64_t)> name) {
  absl::Mutex mutex;
  uint64_t under_way = 0;
  int error = 0;
  for (uint64_t number = first; number < end; ++number) {
    {
      absl::MutexLock lock(&mutex);
      mutex.Await(absl::Condition(
          +[](uint64_t* operations) { return *operations < kRemovals; }, &under_way));
      if (error != 0) break;
      ++under_way;
    }
    parts_.cluster.StartRemove(part, name(number), [&](int result) {
      absl::MutexLock lock(&mutex);
      if (result < 0 && result != -ENOENT) error = result;
      --under_way;
    });
  }
  absl::MutexLock lock(&mutex);
  mutex.Await(absl::Condition(
      +[](uint64_t* operations) { return *operations == 0; }, &under_way));
  return error == 0 ? absl::OkStatus() : parts_.cluster.Error("remove", key_, error);
}

// What lies beyond is removed before the head counts it no more.
absl::Status StoredRecording::RemoveData(uint64_t first) {
  return RemoveObjects(Cluster::Part::kPayload, first, data_objects(),
                       [&](uint64_t n) { return DataOf(key_, n); });
}

absl::Status StoredRecording::RemoveIndex(uint64_t first) {
  return RemoveObjects(Cluster::Part::kRest, first, index_objects(),
                       [&](uint64_t n) { return IndexOf(key_, n); });
}

absl::Status StoredRecording::Trim(uint64_t data_bytes, uint64_t index_bytes) {
  TD_RETURN_IF_ERROR(AwaitWrites());
  absl::MutexLock lock(&updating_);
  const uint64_t data = (data_bytes + object_bytes_ - 1) / object_bytes_;
  const uint64_t index = IndexObjectsFor(index_bytes);
  if (index > index_objects()) TD_RETURN_IF_ERROR(Count(data_objects(), index));
  TD_RETURN_IF_ERROR(RemoveData(data));
  TD_RETURN_IF_ERROR(RemoveIndex(index));
  if (data > 0) {
    TD_RETURN_IF_ERROR(SetLength(Cluster::Part::kPayload, DataOf(key_, data - 1),
                                 data_bytes - (data - 1) * object_bytes_));
  }
  if (index > 0) {
    TD_RETURN_IF_ERROR(SetLength(Cluster::Part::kRest, IndexOf(key_, index - 1),
                                 index_bytes - (index - 1) * kIndexObjectBytes));
  }
  const uint64_t counted = std::min(data, data_objects());
  if (counted == data_objects() && index == index_objects()) return absl::OkStatus();
  return Count(counted, index);
}

absl::Status StoredRecording::Remove() {
  TD_RETURN_IF_ERROR(AwaitWrites());
  absl::MutexLock lock(&updating_);
  TD_RETURN_IF_ERROR(RemoveData(0));
  TD_RETURN_IF_ERROR(RemoveIndex(0));
  return RemoveObjects(Cluster::Part::kRest, 0, 1, [&](uint64_t) { return HeadOf(key_); });
}

}  // namespace tapedeck::storage_node::store::rados
