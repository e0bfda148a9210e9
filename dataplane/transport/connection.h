// One connection of a rail: reliable, ordered, between two registered windows. The operations are
// those of an RC queue pair (ibv_post_send(3), InfiniBand Architecture vol. 1 ch. 9); TCP emulates
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "dataplane/block/frame.h"
#include "dataplane/transport/endpoint.h"

namespace tapedeck::dataplane {

// Implemented by the connection's user. Called on the connection's poller, never inside a
// Connection call.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;

  // A frame, in order. For the payload of a Send, `payload` is the receive buffer it filled (the
  // span given to PostReceive, cut to the payload's length); else empty.
  virtual void OnFrame(const Frame& frame, std::span<std::byte> payload) = 0;

  // `more` of the payload that is arriving is there, right behind what was told of it before: for
  // who looks at it while it is in the cache. Networks that place payloads by themselves do not
  // tell.
  virtual void OnArriving(std::span<const std::byte> /*more*/) {}

  // The operation's local memory is free again. A Read's data is there.
  virtual void OnCompleted(uint64_t work) = 0;

  // Called exactly once and last, when the connection touches no memory any more: after an error,
  // after the peer's close, or after Close.
  virtual void OnClosed(const absl::Status& cause) = 0;
};

// All calls on its poller. Operations are queued, never refused: an error ends the
// connection and arrives as OnClosed, after which unfinished work is abandoned without completions.
// A peer that takes nothing while operations pile up ends it, too, on every network.
class Connection {
 public:
  // Closes if need be; no event follows.
  virtual ~Connection() = default;

  // Delivers `frame`, and `payload` (if any) into the oldest buffer the peer has posted. Completes
  // if there is a payload. A payload without a posted buffer, or larger than it, ends the
  // connection.
  virtual void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) = 0;

  // Puts `payload` at `target` in the peer's window, then delivers `frame`. Completes.
  virtual void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
                     uint64_t work) = 0;

  // Fetches `into.size()` bytes from `origin` in the peer's window; the peer's software is not
  // told. Completes.
  virtual void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) = 0;

  // Posts a buffer for the payload of one Send.
  virtual void PostReceive(std::span<std::byte> buffer) = 0;

  // Ends the connection; `cause` comes back in OnClosed on this side.
  virtual void Close(const absl::Status& cause) = 0;
};

}  // namespace tapedeck::dataplane
