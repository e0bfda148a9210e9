// A Connection over one socket. This side's software emulates one-sided operations: it validates
// them and serves them out of the session's window.
#pragma once

#include <sys/uio.h>

#include <array>
#include <deque>
#include <map>
#include <string>

#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/connection.h"
#include "dataplane/transport/tcp/allowance.h"
#include "dataplane/transport/tcp/kernel_tls.h"
#include "dataplane/transport/tcp/socket.h"
#include "dataplane/transport/tcp/wire.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::tcp {

// What the peer may reach: a session's window on this rail.
struct ExposedWindow {
  std::span<std::byte> bytes;
  RemoteAccess access = RemoteAccess::kNone;
  RemoteWindow name;
};

// On its poller, with all that it has: connections on other pollers share nothing with it but the
// memory that each of them is given a part of.
class TcpConnection final : public Connection {
 public:
  // `rail` names the rail and peer in errors. The socket is connected and greeted, and encrypted if
  // it shall be.
  static absl::StatusOr<std::unique_ptr<TcpConnection>> Create(EventLoop& poller, Fd socket,
                                                               const ExposedWindow& window,
                                                               std::string rail,
                                                               ConnectionEvents* events);
  ~TcpConnection() override;

  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) override;
  void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
             uint64_t work) override;
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) override;
  void PostReceive(std::span<std::byte> buffer) override { receives_.push_back(buffer); }
  void Close(const absl::Status& cause) override;

  // A payload has moved beside this connection: as many operations without one may come for it.
  void AllowAnswers() { allowance_.OnPayload(); }

 private:
  struct Outgoing {
    std::array<std::byte, kPreambleBytes> preamble;
    std::span<const std::byte> payload;
    uint64_t work = 0;
    bool completes = false;
  };

  TcpConnection(EventLoop& poller, Fd socket, const ExposedWindow& window, std::string rail,
                ConnectionEvents* events)
      : poller_(poller),
        socket_(std::move(socket)),
        window_(window),
        rail_(std::move(rail)),
        events_(events),
        edges_(IsEncrypted(socket_) ? EPOLLET : 0u),
        allowance_(poller.clock().NowNs()) {}

  absl::Status PeerReads() const;
  void Queue(const OpHeader& header, const Frame* frame, std::span<const std::byte> payload,
             bool completes);
  void OnReady(uint32_t epoll_events);
  void WatchFor() const;

  // Sending.
  void Flush();
  size_t Gather(std::span<iovec> pieces) const;
  void Sent(size_t bytes);

  // Receiving.
  void Receive();
  bool MayReceive();
  void AwaitPiece();
  size_t Received(size_t bytes);
  void OnPayloadBytes(size_t bytes);
  absl::Status OnPreamble(std::span<const std::byte, kPreambleBytes> preamble);
  absl::StatusOr<std::span<std::byte>> PayloadTarget();
  absl::StatusOr<std::span<std::byte>> Exposed(RemoteAccess needed) const;
  void OnPayload();

  EventLoop& poller_;
  Fd socket_;
  const ExposedWindow window_;
  const std::string rail_;
  ConnectionEvents* const events_;
  // EPOLLET if it is encrypted: the kernel then reports the socket readable as long as a part of a
  // record is there, which cannot be read, and the poller would run in circles until the rest is.
  const uint32_t edges_;
  bool closed_ = false;

  std::deque<Outgoing> outgoing_;
  int64_t taken_ns_ = 0;   // when the kernel last took something, or there was nothing to take
  size_t front_sent_ = 0;  // bytes of outgoing_.front() that the kernel has
  bool flush_due_ = false;
  bool waiting_writable_ = false;

  Allowance allowance_;
  bool paused_ = false;  // the peer has spent its allowance
  // What came behind a payload: preambles, of which each would cost a call by itself. While there
  // is a payload to come, none.
  std::array<std::byte, 16 * kPreambleBytes> staged_;
  size_t staged_bytes_ = 0;
  bool in_payload_ = false;
  int awaited_ = 1;  // bytes at which the kernel reports the socket readable
  OpHeader op_;
  Frame frame_;
  std::span<std::byte> payload_;  // where the current payload goes
  size_t payload_bytes_ = 0;      // how much of it is there

  std::deque<std::span<std::byte>> receives_;
  std::map<uint64_t, std::span<std::byte>> reads_;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::tcp
