#include "storage_node/store/rados/stored.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/identity.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/rados/names.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// Large enough that a pool has few objects, small enough that a stream is on all its OSDs.
constexpr uint64_t kDataObjectBytes = 16 << 20;
// Beyond what any block needs: a head that says more is damaged.
constexpr uint64_t kMostObjectBytes = 128 << 20;

// A whole number of blocks, where each one begins.
uint64_t ObjectBytesFor(uint64_t block_bytes) {
  const uint64_t stride = format::PlaceOf(1, block_bytes, 1).offset;
  return std::max<uint64_t>(1, kDataObjectBytes / stride) * stride;
}

absl::Status NotOfLun(const Cluster& cluster, const std::string& key) {
  return disk::Unusable(cluster.member(),
                        absl::StrCat("recording ", key, " is of another LUN, and left as it is"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<StoredRecording>> StoredRecording::Create(
    const StoreParts& parts, const RecordingPath& path, uint64_t block_bytes,
    const std::string& lun_uid) {
  std::shared_ptr<StoredRecording> stored(new StoredRecording(parts, KeyOf(path)));
  stored->object_bytes_ = ObjectBytesFor(block_bytes);
  librados::ObjectWriteOperation op;
  op.create(true);
  op.setxattr(kLunUid, BufferOf(lun_uid));
  op.setxattr(kEpoch, BufferOf(absl::StrCat(parts.holding.epoch())));
  op.setxattr(kObjectBytes, BufferOf(absl::StrCat(stored->object_bytes_)));
  op.setxattr(kDataObjects, BufferOf("0"));
  op.setxattr(kIndexObjects, BufferOf("0"));
  const std::string head = HeadOf(stored->key_);
  const int result = parts.cluster.Operate(head, op);
  if (result == -EEXIST) {
    return absl::AlreadyExistsError(absl::StrCat(parts.cluster.member(), ": object ", head));
  }
  if (result < 0) return parts.cluster.Error("create", head, result);
  return stored;
}

absl::StatusOr<std::shared_ptr<StoredRecording>> StoredRecording::Open(const StoreParts& parts,
                                                                       const RecordingPath& path,
                                                                       const std::string& lun_uid) {
  std::shared_ptr<StoredRecording> stored(new StoredRecording(parts, KeyOf(path)));
  Xattrs xattrs;
  const std::string head = HeadOf(stored->key_);
  const int result = parts.cluster.ReadXattrs(head, &xattrs);
  if (result == -ENOENT) {
    return absl::NotFoundError(absl::StrCat(parts.cluster.member(), ": no object ", head));
  }
  if (result < 0) return parts.cluster.Error("getxattrs", head, result);
  if (TextOf(xattrs, kLunUid) != lun_uid) return NotOfLun(parts.cluster, stored->key_);
  stored->object_bytes_ = NumberOf(xattrs, kObjectBytes);
  const uint64_t data = NumberOf(xattrs, kDataObjects), index = NumberOf(xattrs, kIndexObjects);
  if (stored->object_bytes_ == 0 || stored->object_bytes_ > kMostObjectBytes || data > UINT32_MAX ||
      index > UINT32_MAX) {
    return disk::StoreIo(parts.cluster.member(), "getxattrs",
                         absl::StrCat("getxattrs ", parts.cluster.member(), " ", head,
                                      ": its sizes fit no recording"),
                         absl::StatusCode::kDataLoss);
  }
  absl::MutexLock lock(&stored->mutex_);
  stored->data_objects_ = data;
  stored->index_objects_ = index;
  return stored;
}

Piece StoredRecording::DataAt(uint64_t offset, size_t bytes) const {
  const uint64_t within = offset % object_bytes_;
  return {.object = DataOf(key_, offset / object_bytes_),
          .offset = within,
          .bytes = std::min<size_t>(bytes, object_bytes_ - within)};
}

Piece StoredRecording::IndexAt(uint64_t offset, size_t bytes) const {
  const uint64_t within = offset % kIndexObjectBytes;
  return {.object = IndexOf(key_, offset / kIndexObjectBytes),
          .offset = within,
          .bytes = std::min<size_t>(bytes, kIndexObjectBytes - within)};
}

uint64_t StoredRecording::data_objects() const {
  absl::MutexLock lock(&mutex_);
  return data_objects_;
}

uint64_t StoredRecording::index_objects() const {
  absl::MutexLock lock(&mutex_);
  return index_objects_;
}

void StoredRecording::BeginWrite() {
  absl::MutexLock lock(&mutex_);
  ++writes_;
}

void StoredRecording::EndWrite() {
  absl::MutexLock lock(&mutex_);
  --writes_;
}

absl::Status StoredRecording::Count(uint64_t data, uint64_t index) {
  librados::ObjectWriteOperation op;
  parts_.holding.Guard(op);
  op.setxattr(kDataObjects, BufferOf(absl::StrCat(data)));
  op.setxattr(kIndexObjects, BufferOf(absl::StrCat(index)));
  if (const int r = parts_.cluster.Operate(HeadOf(key_), op); r < 0) {
    return parts_.cluster.Error("setxattr", HeadOf(key_), r);
  }
  absl::MutexLock lock(&mutex_);
  data_objects_ = data;
  index_objects_ = index;
  return absl::OkStatus();
}

absl::Status StoredRecording::CountData(uint64_t objects) {
  absl::MutexLock lock(&updating_);
  if (objects <= data_objects()) return absl::OkStatus();
  return Count(objects, index_objects());
}

void StoredRecording::CountDataFor(const std::shared_ptr<StoredRecording>& stored, uint64_t objects,
                                   Counted counted) {
  {
    absl::MutexLock lock(&stored->mutex_);
    stored->waiting_.push_back({.objects = objects, .counted = std::move(counted)});
    if (std::exchange(stored->counting_, true)) return;
  }
  stored->parts_.slow.Run([stored] { stored->CountForWaiting(); });
}

void StoredRecording::CountForWaiting() {
  while (true) {
    uint64_t most = 0;
    {
      absl::MutexLock lock(&mutex_);
      for (const Waiting& each : waiting_) most = std::max(most, each.objects);
    }
    const absl::Status tried = CountData(most);
    std::vector<Waiting> settled = Settled(tried, most);
    if (settled.empty()) return;
    for (Waiting& each : settled) each.counted(tried);
  }
}

std::vector<StoredRecording::Waiting> StoredRecording::Settled(const absl::Status& tried,
                                                               uint64_t objects) {
  absl::MutexLock lock(&mutex_);
  const auto left = std::stable_partition(
      waiting_.begin(), waiting_.end(),
      [&](const Waiting& each) { return !tried.ok() || each.objects <= objects; });
  std::vector<Waiting> settled(std::make_move_iterator(waiting_.begin()),
                               std::make_move_iterator(left));
  waiting_.erase(waiting_.begin(), left);
  counting_ = !settled.empty();
  return settled;
}

absl::Status StoredRecording::CountIndex(uint64_t objects) {
  absl::MutexLock lock(&updating_);
  if (objects <= index_objects()) return absl::OkStatus();
  return Count(data_objects(), objects);
}

// Within the counted objects what was never written is zeros, but for the end of the last one.
absl::StatusOr<Bytes> StoredRecording::ReadIndex(uint64_t offset, size_t bytes) const {
  Bytes all;
  const uint64_t objects = index_objects();
  while (all.size() < bytes && offset / kIndexObjectBytes < objects) {
    const Piece piece = IndexAt(offset, bytes - all.size());
    librados::bufferlist read;
    const int result = parts_.cluster.Read(piece.object, piece.offset, piece.bytes, &read);
    if (result < 0 && result != -ENOENT) {
      return parts_.cluster.Error("read", piece.object, result);
    }
    const size_t begin = all.size();
    const bool last = offset / kIndexObjectBytes + 1 == objects;
    all.resize(begin + (last ? read.length() : piece.bytes));
    read.begin().copy(read.length(), reinterpret_cast<char*>(all.data() + begin));
    if (read.length() < piece.bytes && last) break;
    offset += piece.bytes;
  }
  return all;
}

absl::Status StoredRecording::WriteManifest(const std::string& text) {
  absl::MutexLock lock(&updating_);
  const auto before = ReadManifest();
  librados::ObjectWriteOperation op;
  parts_.holding.Guard(op);
  if (before.ok() && format::IsDamagedManifest(*before)) {
    op.setxattr(kDamaged, BufferOf(*before));
  }
  op.write_full(BufferOf(text));
  const int result = parts_.cluster.Operate(HeadOf(key_), op);
  return result < 0 ? parts_.cluster.Error("write", HeadOf(key_), result) : absl::OkStatus();
}

absl::StatusOr<std::string> StoredRecording::ReadManifest() const {
  librados::bufferlist text;
  const int result = parts_.cluster.Read(HeadOf(key_), 0, format::kMaxManifestBytes + 1, &text);
  if (result < 0 && result != -ENOENT) return parts_.cluster.Error("read", HeadOf(key_), result);
  if (text.length() > format::kMaxManifestBytes) {
    return absl::DataLossError(absl::StrCat("read ", parts_.cluster.member(), " ", HeadOf(key_),
                                            ": too long for a manifest"));
  }
  if (text.length() > 0) return text.to_str();
  return absl::NotFoundError(
      absl::StrCat("read ", parts_.cluster.member(), ": recording ", key_, " has no manifest yet"));
}

}  // namespace tapedeck::storage_node::store::rados
