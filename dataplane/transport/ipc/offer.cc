#include "dataplane/transport/ipc/offer.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"

namespace tapedeck::dataplane::ipc {
namespace {

Endpoint EndpointOf(const IpcOffer::Parts& parts) {
  IpcEndpoint endpoint = parts.endpoint;
  endpoint.wire = std::get<TcpEndpoint>(parts.wire->endpoint());
  return endpoint;
}

}  // namespace

IpcOffer::IpcOffer(Parts parts) : parts_(std::move(parts)), endpoint_(EndpointOf(parts_)) {}

void IpcOffer::Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
                       std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done) {
  done_ = std::move(done);
  events_ = events;
  deadline_ns_ = deadline_ns;
  const auto* endpoint = std::get_if<IpcEndpoint>(&peer);
  if (endpoint == nullptr) {
    return Fail(absl::InvalidArgumentError("the peer's rail of this name is not of kind ipc"));
  }
  peer_ = *endpoint;
  if (peer_.access == RemoteAccess::kNone) return Meet(nullptr);
  // The peer may meet the wire's offer meanwhile: it is there from the beginning.
  parts_.poller->PostAt(deadline_ns, lifetime_.Guard([this] {
    if (made_ == nullptr) {
      Fail(absl::DeadlineExceededError("the peer's memory was not open before the deadline"));
    }
  }));
  auto opened =
      lifetime_.Guard([this](std::shared_ptr<absl::StatusOr<std::shared_ptr<PeerPath>>> path) {
        Opened(std::move(*path));
      });
  const absl::Status runs = parts_.opener->Run(
      [poller = parts_.poller, open = parts_.open, peer = peer_, opened = std::move(opened)] {
        auto path = std::make_shared<absl::StatusOr<std::shared_ptr<PeerPath>>>(open(peer));
        poller->Post([opened, path = std::move(path)]() mutable { opened(std::move(path)); });
      });
  if (!runs.ok()) Fail(runs);
}

void IpcOffer::Opened(absl::StatusOr<std::shared_ptr<PeerPath>> path) {
  if (done_ == nullptr) return;
  if (!path.ok()) return Fail(path.status());
  Meet(*std::move(path));
}

void IpcOffer::Meet(std::shared_ptr<PeerPath> path) {
  made_ = std::make_unique<IpcConnection>(
      IpcConnection::Parts{.poller = parts_.poller,
                           .rail = absl::StrCat("rail ", parts_.rail),
                           .local = parts_.local,
                           .peer = {.access = peer_.access, .window = peer_.window},
                           .path = std::move(path),
                           .events = events_});
  parts_.wire->Connect(peer_.wire, deadline_ns_, made_.get(),
                       lifetime_.Guard([this](absl::StatusOr<std::unique_ptr<Connection>> wire) {
                         if (done_ == nullptr) return;
                         if (!wire.ok()) return std::exchange(done_, nullptr)(wire.status());
                         // Offers of the TCP room make these.
                         made_->SetWire(std::unique_ptr<tcp::TcpConnection>(
                             static_cast<tcp::TcpConnection*>(wire->release())));
                         std::exchange(done_, nullptr)(std::move(made_));
                       }));
}

void IpcOffer::Fail(const absl::Status& cause) {
  if (done_ == nullptr) return;
  const absl::Status named = Prefixed(absl::StrCat("rail ", parts_.rail, " (ipc): "), cause);
  parts_.poller->Post([named, done = std::exchange(done_, nullptr)] { done(named); });
}

}  // namespace tapedeck::dataplane::ipc
