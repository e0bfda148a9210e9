// The control stream of a session: messages both ways, in order, until one end closes it. Its life
// is the session's lease. gRPC carries it in production, an in-process queue in the simulator.
#pragma once

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "services/session/messages.h"

namespace tapedeck::services::session {

// Called on the executor given to Start, never inside a ControlStream call.
class ControlEvents {
 public:
  virtual ~ControlEvents() = default;
  virtual void OnMessage(Message message) = 0;
  // Once and last. OK: the peer ended the stream in order; else UNAVAILABLE (PEER_LOST), or what
  // was wrong.
  virtual void OnClosed(const absl::Status& cause) = 0;
};

// Any thread may call Send and Close.
class ControlStream {
 public:
  // Cancels the stream unless Close was called; no event follows.
  virtual ~ControlStream() = default;

  // Once, before anything else. Messages that came earlier are delivered now. `events` must outlive
  // the stream.
  virtual void Start(ControlEvents* events, dataplane::Executor* executor) = 0;

  // Queued; dropped once the stream is closed.
  virtual void Send(const Message& message) = 0;

  // Ends the stream after what was sent; the peer sees `status`.
  virtual void Close(const absl::Status& status) = 0;
};

// Takes new streams on the serving side. Any thread.
class SessionAcceptor {
 public:
  virtual ~SessionAcceptor() = default;
  virtual void OnStream(std::unique_ptr<ControlStream> stream) = 0;
};

}  // namespace tapedeck::services::session
