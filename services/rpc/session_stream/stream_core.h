// The half of a control stream that both ends share: the queue of what is to be sent, the hand-over
// of what arrives to the session's executor, and the end. It knows no gRPC; the two reactors drive
// it and supply the operations.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services::session_stream {

using session::ControlEvents;
using session::Message;

// Messages that wait for the peer to read; about 1 KiB each. At most: an offer for each connection,
// and progress for minutes.
inline constexpr size_t kMaxQueuedMessages = 1024;

// While the peer keeps an Open waiting, signs of life of its connection count for its next word for
// so many seconds: longer is no slow machine, but a node in which something has stopped.
inline constexpr int kMostSigns = 60;

// Shared, because three parties hold it until they are done: the gRPC call, the ControlStream in
// the session's hands, and tasks posted to the executor. Any thread, except where said.
class StreamCore : public std::enable_shared_from_this<StreamCore> {
 public:
  virtual ~StreamCore() = default;

  void Start(ControlEvents* events, dataplane::Executor* executor);
  void Send(const Message& message);
  void Close(const absl::Status& status);
  // On the executor: no event follows.
  void Detach();
  // As if the peer had sent it, where events flow.
  void Tell(Message message);

 protected:
  // Operations of the gRPC call, at most one read and one write at a time. Called under mutex_ and
  // only between Start and the call's end; their completions never run inside them.
  virtual void BeginCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  virtual void BeginRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // A message that cannot be written comes back as an error.
  virtual absl::Status BeginWrite(const Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // Nothing is queued or being written any more: end this side in order, with close_status().
  virtual void BeginEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // End the call at once.
  virtual void Abort() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // Called once by EndReads.
  virtual void ReadsEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}

  // Reported by the reactors.
  void Received(absl::StatusOr<Message> message);
  // Once a second, whether the peer's connection has shown a sign of life. Until the peer has
  // accepted, its last word goes to the session again then. False: nobody needs to look any more.
  bool LookedAt(bool alive);
  // Nothing more comes from the peer; ends this side too, in order.
  void PeerEnded();
  void Written(bool ok);
  // The peer or the path is gone; what is queued is lost.
  void Broken();
  // The call is over; nothing of gRPC is touched afterwards. `cause` counts unless this side closed
  // the stream first.
  void Ended(const absl::Status& cause);

  // No read is begun from now on.
  void EndReads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Status& close_status() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return close_status_;
  }

  absl::Mutex mutex_;

 private:
  void CloseLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Overflow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostMessage(Message message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Deliver(Message message);
  void DeliverClosed(const absl::Status& cause);
  ControlEvents* LiveEvents();

  ControlEvents* events_ ABSL_GUARDED_BY(mutex_) = nullptr;
  dataplane::Executor* executor_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool detached_ ABSL_GUARDED_BY(mutex_) = false;

  // What the peer was at last, before it has accepted; none afterwards.
  std::optional<session::Progress> opening_ ABSL_GUARDED_BY(mutex_) = session::Progress{
      .phase = "its connection answers, its sessions do not yet"};
  int signs_ ABSL_GUARDED_BY(mutex_) = 0;  // since then

  std::deque<Message> queue_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool reads_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;      // by either side
  bool closed_here_ ABSL_GUARDED_BY(mutex_) = false;  // by this side first
  bool end_begun_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_status_ ABSL_GUARDED_BY(mutex_);
  absl::Status cause_ ABSL_GUARDED_BY(mutex_);
};

// The session's handle on `core`.
std::unique_ptr<session::ControlStream> MakeControlStream(std::shared_ptr<StreamCore> core);

}  // namespace tapedeck::services::session_stream
