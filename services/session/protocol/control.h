// The seam to a session's control stream: ordered messages between the two ends of one session.
// The stream's life is the session's lease.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::services::session {

// At its end a session waits this long for the other side to read what it was sent and close the
// stream.
inline constexpr int64_t kFarewellNs = 2 * dataplane::kSecondNs;

// Implemented by the stream's user. Called on the executor given to Start, never inside a call of
// the stream.
class ControlEvents {
 public:
  virtual ~ControlEvents() = default;

  // In the order sent.
  virtual void OnMessage(Message message) = 0;

  // Exactly once and last: OK after an orderly end by the peer, the status given to Close on this
  // side, the peer's error, or UNAVAILABLE (PEER_LOST, NODE_UNREACHABLE) when the stream broke.
  virtual void OnClosed(const absl::Status& cause) = 0;
};

// One end of the stream. Destroyed on the executor, and no event follows; before OnClosed that cuts
// the stream, what is on its way may be lost, and the peer sees PEER_LOST.
class ControlStream {
 public:
  virtual ~ControlStream() = default;

  // Called once. Events flow from now on, on `executor`; both outlive the stream.
  virtual void Start(ControlEvents* events, dataplane::Executor* executor) = 0;

  // Queues the message. Any thread. After Close or a break it is dropped.
  virtual void Send(const Message& message) = 0;

  // Ends the stream once what is queued has been sent. Any thread; the first call counts. The
  // serving end hands `status` to the peer; from the opening end the peer sees OK or PEER_LOST.
  virtual void Close(const absl::Status& status) = 0;
};

// Takes the streams that peers open. Any thread; must not block.
class SessionAcceptor {
 public:
  virtual ~SessionAcceptor() = default;
  virtual void OnStream(std::unique_ptr<ControlStream> stream) = 0;
};

}  // namespace tapedeck::services::session
