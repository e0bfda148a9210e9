// A Connection between two processes of one machine. Frames and sent payloads go over a TCP
// connection. The path's copier reads from and writes to the peer's window on this end, and the
// peer's processor has no part in it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/memory/peer_copies.h"
#include "dataplane/transport/connection.h"
#include "dataplane/transport/tcp/connection.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::ipc {

// What one end opens to the other, as its Domain has it.
struct Exposure {
  RemoteAccess access = RemoteAccess::kNone;
  RemoteWindow window;
};

// On its poller, as all connections. It is the TCP connection's events, and passes on what that
// tells. A copy that is under way when it is destroyed without having been closed touches the
// window until it is over: the driver frees no memory of a GPU before.
class IpcConnection final : public Connection, public ConnectionEvents {
 public:
  struct Parts {
    EventLoop* poller = nullptr;
    std::string rail;  // in errors
    MemoryWindow local;
    Exposure peer;
    std::shared_ptr<PeerPath> path;  // null: the peer opens nothing
    ConnectionEvents* events = nullptr;
  };

  explicit IpcConnection(Parts parts) : parts_(std::move(parts)) {}

  // Once, before any other call: the connection whose events this is.
  void SetWire(std::unique_ptr<tcp::TcpConnection> wire) { wire_ = std::move(wire); }

  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) override;
  void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
             uint64_t work) override;
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) override;
  void PostReceive(std::span<std::byte> buffer) override;
  void Close(const absl::Status& cause) override;

  void OnFrame(const Frame& frame, std::span<std::byte> payload) override {
    parts_.events->OnFrame(frame, payload);
  }
  void OnArriving(std::span<const std::byte> more) override { parts_.events->OnArriving(more); }
  void OnCompleted(uint64_t work) override { parts_.events->OnCompleted(work); }
  void OnClosed(const absl::Status& cause) override;

 private:
  // A frame in its order: behind a write whose bytes are not there yet.
  struct Outgoing {
    uint64_t number = 0;
    bool ready = false;
    bool written = false;  // a write, which completes when its frame goes
    Frame frame;
    std::span<const std::byte> payload;
    uint64_t work = 0;
  };

  absl::StatusOr<uint64_t> OffsetOf(RemoteSlice slice, size_t bytes, RemoteAccess needed) const;
  // Whether the connection goes on.
  bool CopyEnded(const absl::Status& status);
  void SendReady();
  void TellClosed();

  const Parts parts_;
  std::unique_ptr<tcp::TcpConnection> wire_;
  std::deque<Outgoing> outgoing_;
  uint64_t numbered_ = 0;
  size_t copies_ = 0;  // under way
  bool closed_ = false;
  absl::Status cause_;
  bool wire_closed_ = false;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::ipc
