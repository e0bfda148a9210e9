// A session with a storage node of a program that has no rails of its own, from its begin to its
// end: over TCP, from whatever ports lead to the node's rails. Used by one thread, which may wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transport/transport.h"
#include "services/rpc/storage_session/peer.h"
#include "services/session/opening/client_session.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::services::storage_session {

// A ring for blocks of that size. RESOURCE_EXHAUSTED (LIMIT_REACHED).
absl::StatusOr<std::shared_ptr<dataplane::MemoryPool>> MakeRing(uint64_t block_bytes);

// DEADLINE_EXCEEDED (SESSION_STALLED): blocks move no more.
absl::Status Stalled(absl::string_view text);

class SessionRun {
 public:
  struct Settings {
    session::Open open;  // lacks what the ring and this program tell
    std::shared_ptr<dataplane::MemoryPool> ring;
    bool ordered = false;
    // The source or the sink; called on the session's executor, once for each try.
    std::function<session::TransferEnd(const session::Accept&)> make_end;
    // Called on the session's executor when one that has begun has ended.
    std::function<void()> on_ended;
  };

  // Waits until blocks can move, over all rails of the node that are of TCP, or, where not all of
  // them answer, over the first that does. RAIL_UNKNOWN: it has none of TCP; what a session fails
  // with.
  static absl::StatusOr<std::unique_ptr<SessionRun>> Begin(const Peer& peer,
                                                           const Settings& settings);

  // Ends it, well or not, and waits for that: some seconds at most.
  ~SessionRun();

  // Waits for the end; what it has failed with.
  absl::Status End(absl::Duration patience);

  // What the node has answered; once it has begun.
  session::Accept accept() const ABSL_LOCKS_EXCLUDED(mutex_);
  session::Snapshot snapshot() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool ended() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  SessionRun() = default;

  absl::Status Start(const Peer& peer, const std::vector<NodeRail>& rails,
                     const Settings& settings);
  absl::Status MakeRails(const std::vector<NodeRail>& rails);
  void OnChange(const session::Snapshot& snapshot) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  session::Snapshot snapshot_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<StorageDialer> dialer_;
  std::unique_ptr<StorageClient> storage_;
  std::vector<std::unique_ptr<dataplane::EventLoop>> pollers_;
  std::vector<std::unique_ptr<dataplane::Transport>> rails_;
  std::function<void()> on_ended_;
  std::unique_ptr<session::ClientSession> session_;  // on the loop
  std::unique_ptr<dataplane::EventLoop> loop_;
};

}  // namespace tapedeck::services::storage_session
