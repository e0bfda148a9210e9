// The interface to networks. A Transport is one rail's port on this node. A Domain holds the rights
// of one session on it. An Offer is a connection that waits for its peer's endpoint. The folders
// below transport/ implement all three.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/memory/memory.h"
#include "dataplane/transport/connection.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/rail_meter.h"

namespace tapedeck::dataplane {

enum class TransferOp { kRead = 1, kWrite = 2, kSend = 3 };

// A connection that has told its endpoint and not yet met its peer. Lives on one of the rail's
// pollers, as does the connection that comes of it.
// Destroying it withdraws the offer.
class Offer {
 public:
  virtual ~Offer() = default;

  virtual const Endpoint& endpoint() const = 0;

  // Connects to the peer's offer; `done` is called once on that poller, never inline. Both sides
  // call this, in any order. `events` must outlive the connection. `deadline_ns` is of the poller's
  // clock.
  //   DEADLINE_EXCEEDED nobody came; UNAVAILABLE unreachable or refused; FAILED_PRECONDITION
  //   (VERSION_MISMATCH) of another version, (RAIL_TLS_MISMATCH) where one end alone encrypts;
  //   UNAUTHENTICATED not the session's token;
  //   INVALID_ARGUMENT not an endpoint of this transport. The text names rail, address and cause.
  virtual void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
                       std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done) = 0;
};

// One session's right on one rail: its window, registered once, and the connections that share it.
// Any thread; destroyed after its connections. The window is unreachable from then on.
class Domain {
 public:
  virtual ~Domain() = default;

  // How the peer addresses this window; zero where RemoteAccess is kNone.
  virtual RemoteWindow remote_window() const = 0;

  // A fresh offer of a connection on this poller of the rail. Called there.
  virtual absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) = 0;
};

// What rails between processes of one machine are called; see ipc/transport.h.
inline constexpr char kIpcTransport[] = "ipc";

struct RailDescription {
  std::string name;       // "r0"
  std::string transport;  // "tcp"
  std::string address;    // "127.0.0.1"
  uint16_t port = 0;      // of the listener; 0 where there is none
  std::string device;     // RDMA device or network interface; may be empty
  bool tls = false;       // what its connections carry is encrypted
  // Payload bytes per second that the path can carry at most; 0 unknown.
  uint64_t wire_limit_bytes_per_s = 0;
  bool operator==(const RailDescription&) const = default;
};

// One rail of this node. Any thread may call; lives as long as the process, and its pollers outlive
// it.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual const RailDescription& rail() const = 0;

  // Registers a session's window. UNIMPLEMENTED if this rail cannot reach memory of that kind.
  virtual absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                             RemoteAccess access) = 0;

  // The executors its connections live on, each on one of them; at least one.
  const std::vector<Executor*>& pollers() const { return pollers_; }
  // The first, on which what belongs to all of the rail lives, too.
  Executor& poller() const { return *pollers_.front(); }
  // The one for the next connection: over all sessions they take turns.
  size_t NextPoller() {
    return next_poller_.fetch_add(1, std::memory_order_relaxed) % pollers_.size();
  }

  RailMeter& meter() { return meter_; }

 protected:
  explicit Transport(std::vector<Executor*> pollers) : pollers_(std::move(pollers)) {}

 private:
  const std::vector<Executor*> pollers_;
  std::atomic<size_t> next_poller_ = 0;
  RailMeter meter_;
};

}  // namespace tapedeck::dataplane
