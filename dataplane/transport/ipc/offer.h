// A connection that waits for its peer on this machine. It first opens the peer's memory. Then its
// inner TCP offer meets the peer's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/ipc/connection.h"
#include "dataplane/transport/ipc/opener.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::ipc {

// Opens the memory that a peer's endpoint tells of, on the opener's thread, where it is let go,
// too, whoever drops it.
using OpenPath = std::function<absl::StatusOr<std::shared_ptr<PeerPath>>(const IpcEndpoint& peer)>;

// On its poller.
class IpcOffer final : public Offer {
 public:
  struct Parts {
    EventLoop* poller = nullptr;
    Opener* opener = nullptr;  // the rail's, which outlives its offers
    std::string rail;
    MemoryWindow local;
    IpcEndpoint endpoint;  // without what the wire's offer tells
    OpenPath open;
    std::unique_ptr<Offer> wire;  // over TCP
  };

  explicit IpcOffer(Parts parts);

  const Endpoint& endpoint() const override { return endpoint_; }
  void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
               std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done) override;

 private:
  void Opened(absl::StatusOr<std::shared_ptr<PeerPath>> path);
  void Meet(std::shared_ptr<PeerPath> path);
  void Fail(const absl::Status& cause);

  const Parts parts_;
  const Endpoint endpoint_;
  IpcEndpoint peer_;
  int64_t deadline_ns_ = 0;
  ConnectionEvents* events_ = nullptr;
  std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done_;
  std::unique_ptr<IpcConnection> made_;  // until the wire is up
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::ipc
