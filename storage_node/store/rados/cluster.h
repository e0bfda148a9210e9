// A connection to a Ceph cluster, and the objects of one namespace of a pool. Payload may have a
// second pool.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <rados/librados.hpp>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/rados/lent_block.h"
#include "storage_node/store/rados/member_name.h"

namespace tapedeck::storage_node::store::rados {

// Librados' buffer of a text.
librados::bufferlist BufferOf(absl::string_view text);

using Xattrs = std::map<std::string, librados::bufferlist>;
// Empty if there is none of that name.
std::string TextOf(const Xattrs& xattrs, const std::string& name);
// 0 if there is none, or it is no number.
uint64_t NumberOf(const Xattrs& xattrs, const std::string& name);

// Any thread. A client of its own, so that it can be fenced without others; outlives whatever it
// has started, for which its destructor waits.
class Cluster {
 public:
  // Called once, on a thread of librados, which must not wait: 0 or more, or a negative errno.
  using Ended = absl::AnyInvocable<void(int result)>;

  // FAILED_PRECONDITION or NOT_FOUND (MEMBER_UNUSABLE), within 10 s.
  static absl::StatusOr<std::unique_ptr<Cluster>> Connect(const std::string& member);
  ~Cluster() { AwaitAll(); }

  const std::string& member() const { return member_; }
  // Empty: payload lies with the rest.
  const std::string& data_pool() const { return name_.data_pool; }

  // Payload lies in the data pool, where the member names one, and fails when the cluster is full.
  // The rest is small, and without it what is stored cannot be closed: it goes on.
  enum class Part { kPayload, kRest };

  // May wait for what is under way, once there are 1024 operations of it or 100 MiB: for threads
  // that may.
  void Start(Part part, const std::string& object, librados::ObjectWriteOperation& op, Ended ended);
  void StartRead(Part part, const std::string& object, uint64_t offset, size_t bytes,
                 librados::bufferlist* into, Ended ended);
  void StartRemove(Part part, const std::string& object, Ended ended);

  // Until all that was started has ended.
  void AwaitAll();

  // These wait, and go on when it is full. A negative errno, or 0 or more.
  int Operate(const std::string& object, librados::ObjectWriteOperation& op,
              Part part = Part::kRest);
  int Read(const std::string& object, uint64_t offset, size_t bytes, librados::bufferlist* into);
  int ReadXattrs(const std::string& object, Xattrs* xattrs);
  int SizeOf(const std::string& object, uint64_t* bytes, Part part);

  librados::IoCtx& objects() { return objects_; }
  librados::IoCtx& payload() { return payload_; }
  librados::Rados& client() { return client_; }
  LentShelf& shelf() { return shelf_; }

  // What `operation` on `object` failed with; `result` is a negative errno. RESOURCE_EXHAUSTED
  // (LUN_FULL), else INTERNAL (STORE_IO).
  absl::Status Error(absl::string_view operation, absl::string_view object, int result) const;

 private:
  Cluster(std::string member, PoolName name) : member_(std::move(member)), name_(std::move(name)) {}
  absl::Status Connect();
  absl::Status Open(const std::string& pool, const std::string& space, librados::IoCtx& objects);
  absl::Status Unusable(absl::string_view call, int result) const;
  // `submit` gives an operation to librados, or a negative errno.
  template <typename Submit>
  void Run(Ended ended, Submit submit);
  librados::IoCtx& In(Part part) { return part == Part::kPayload ? payload_ : objects_; }

  const std::string member_;
  const PoolName name_;
  LentShelf shelf_;  // outlives the client
  librados::Rados client_;
  librados::IoCtx objects_;
  librados::IoCtx payload_;
  absl::Mutex mutex_;
  uint64_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node::store::rados
