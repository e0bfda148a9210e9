// The windows of this process that are open to peers, by the random bits that name them. An end in
// the same process finds a window here, because the driver opens no memory of its own process. A
// peer that was told of a window knows its name for ever. It may name a window that is gone, or
// tell others the name.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/memory.h"
#include "dataplane/memory/peer_copies.h"
#include "dataplane/transport/endpoint.h"

namespace tapedeck::dataplane::ipc {

// One of them, as long as anything copies from or to it. Any thread.
class OwnWindow {
 public:
  OwnWindow(const MemoryWindow& window, RemoteAccess access) : window_(window), access_(access) {}

  const MemoryWindow& window() const { return window_; }
  RemoteAccess access() const { return access_; }

  // No copy is begun any more. Waits for those that a thread makes at this moment, which take as
  // long as one block; of a GPU's that are enqueued the driver knows, and frees nothing before.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // `path` leads to it, and does so until Close; what is asked for later fails with ABORTED.
  static std::unique_ptr<PeerPath> Guard(std::shared_ptr<OwnWindow> own,
                                         std::unique_ptr<PeerPath> path);

 private:
  class GuardedPath;

  const MemoryWindow window_;
  const RemoteAccess access_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Of the process. Any thread.
class OwnWindows {
 public:
  using Name = std::array<uint8_t, MemoryShare::kNameBytes>;

  static OwnWindows& Get();

  void Add(const Name& name, std::shared_ptr<OwnWindow> own) ABSL_LOCKS_EXCLUDED(mutex_);
  // And closes it; none of that name: does nothing.
  void Remove(const Name& name) ABSL_LOCKS_EXCLUDED(mutex_);
  // Null: none of that name.
  std::shared_ptr<OwnWindow> Find(const Name& name) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  std::map<Name, std::shared_ptr<OwnWindow>> windows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::dataplane::ipc
