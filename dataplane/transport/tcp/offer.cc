#include "dataplane/transport/tcp/offer.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/rail_tls.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/tcp/kernel_tls.h"

namespace tapedeck::dataplane::tcp {
namespace {

using Done = std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)>;

// What both kinds share: the deadline, the keys, and turning a greeted socket into a Connection
// exactly once.
class TcpOffer : public Offer {
 public:
  TcpOffer(const RailPort& port, const ExposedWindow& window, const TcpEndpoint& own)
      : port_(port), window_(window), own_(own), endpoint_(own) {}

  const Endpoint& endpoint() const override { return endpoint_; }

  void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
               Done done) override {
    events_ = events;
    done_ = std::move(done);
    const auto* address = std::get_if<TcpEndpoint>(&peer);
    if (address == nullptr) {
      return Fail(absl::InvalidArgumentError("the peer's endpoint is not a TCP endpoint"));
    }
    peer_name_ = absl::StrCat(address->address, ":", address->port);
    if (const absl::Status agreed = AgreeOnKeys(*address); !agreed.ok()) return Fail(agreed);
    port_.poller->PostAt(deadline_ns, lifetime_.Guard([this] {
      Fail(absl::DeadlineExceededError("no connection before the deadline"));
    }));
    Begin(*address);
  }

 protected:
  virtual void Begin(const TcpEndpoint& peer) = 0;

  EventLoop& poller() { return *port_.poller; }
  const RailPort& port() const { return port_; }
  const std::string& peer_name() const { return peer_name_; }

  // The connection is made inside the posted task, so that no event can come before `done`.
  void Succeed(Fd socket) {
    if (done_ == nullptr) return;
    if (keys_.has_value()) {
      if (const absl::Status status = Encrypt(socket, *keys_); !status.ok()) return Fail(status);
    }
    port_.poller->Post([port = port_, window = window_, events = events_, peer = peer_name_,
                        socket = std::move(socket),
                        done = std::exchange(done_, nullptr)]() mutable {
      done(TcpConnection::Create(*port.poller, std::move(socket), window,
                                 absl::StrCat("rail ", port.rail.name, " to ", peer), events));
    });
  }

  void Fail(const absl::Status& cause) {
    if (done_ == nullptr) return;
    const absl::Status named = Prefixed(
        absl::StrCat("rail ", port_.rail.name, " (", port_.rail.address, ") to ", peer_name_, ": "),
        cause);
    port_.poller->Post([named, done = std::exchange(done_, nullptr)] { done(named); });
  }

  Lifetime& lifetime() { return lifetime_; }

 private:
  // In clear if neither end encrypts.
  absl::Status AgreeOnKeys(const TcpEndpoint& peer) {
    if (own_.tls != peer.tls) return RailTlsMismatch(port_.rail.name, own_.tls);
    if (!own_.tls) return absl::OkStatus();
    const bool listens = port_.listener != nullptr;
    const TcpEndpoint& listener = listens ? own_ : peer;
    TD_ASSIGN_OR_RETURN(keys_, DeriveKeys({.secret = listener.secret,
                                           .listener = listener.token,
                                           .caller = listens ? peer.token : own_.token},
                                          listens ? Side::kListener : Side::kCaller));
    return absl::OkStatus();
  }

  const RailPort port_;
  const ExposedWindow window_;
  const TcpEndpoint own_;
  const Endpoint endpoint_;
  std::optional<ConnectionKeys> keys_;  // none: in clear
  std::string peer_name_;
  ConnectionEvents* events_ = nullptr;
  Done done_;
  Lifetime lifetime_;
};

class WaitingOffer final : public TcpOffer {
 public:
  WaitingOffer(const RailPort& port, const ExposedWindow& window, const Credentials& own)
      : TcpOffer(port, window,
                 {.address = port.rail.address,
                  .port = port.rail.port,
                  .token = own.token,
                  .tls = port.rail.tls,
                  .secret = own.secret}),
        token_(own.token) {
    // The peer may call before Connect: its socket waits here. The listener greets on a poller of
    // its own.
    auto on_connected = lifetime().Guard([this](Fd socket) { OnArrived(std::move(socket)); });
    port.listener->Expect(token_, [poller = port.poller, on_connected](Fd socket) {
      poller->Post([on_connected = on_connected, socket = std::move(socket)]() mutable {
        on_connected(std::move(socket));
      });
    });
  }
  ~WaitingOffer() override { port().listener->Forget(token_); }

 private:
  void OnArrived(Fd socket) {
    arrived_ = std::move(socket);
    if (begun_) Succeed(*std::exchange(arrived_, std::nullopt));
  }

  void Begin(const TcpEndpoint& peer) override {
    // An end that calls has no port.
    if (peer.port != 0) {
      return Fail(
          absl::FailedPreconditionError("both ends listen and neither connects: start only the "
                                        "receiving worker with --inlets on"));
    }
    begun_ = true;
    if (arrived_.has_value()) Succeed(*std::exchange(arrived_, std::nullopt));
  }

  const Token token_;
  bool begun_ = false;
  std::optional<Fd> arrived_;
};

class CallingOffer final : public TcpOffer {
 public:
  CallingOffer(const RailPort& port, const ExposedWindow& window, const Credentials& own)
      : TcpOffer(port, window,
                 {.address = port.rail.address, .token = own.token, .tls = port.rail.tls}) {}
  ~CallingOffer() override { poller().Unwatch(socket_.get()); }

 private:
  void Begin(const TcpEndpoint& peer) override {
    token_ = peer.token;
    absl::StatusOr<Fd> socket = StartConnect(port().rail.address, peer.address, peer.port);
    if (!socket.ok()) return Fail(socket.status());
    socket_ = *std::move(socket);
    const absl::Status watched = poller().Watch(
        socket_.get(), EPOLLOUT, lifetime().Guard([this](uint32_t) { OnConnected(); }));
    if (!watched.ok()) Fail(watched);
  }

  void OnConnected() {
    poller().Unwatch(socket_.get());
    if (const absl::Status status = ConnectResult(socket_); !status.ok()) return Fail(status);
    const HelloBytes hello = EncodeHello({.token = token_});
    if (send(socket_.get(), hello.data(), hello.size(), MSG_NOSIGNAL) != ssize_t{kHelloBytes}) {
      return Fail(absl::UnavailableError(absl::StrCat("send: ", std::strerror(errno))));
    }
    const absl::Status watched =
        poller().Watch(socket_.get(), EPOLLIN, lifetime().Guard([this](uint32_t) { OnAnswer(); }));
    if (!watched.ok()) Fail(watched);
  }

  void OnAnswer() {
    const ssize_t got = recv(socket_.get(), answer_.data() + bytes_, answer_.size() - bytes_, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) bytes_ += static_cast<size_t>(got);
    if (got > 0 && bytes_ < answer_.size()) return;
    poller().Unwatch(socket_.get());
    const std::optional<Hello> hello =
        bytes_ == answer_.size() ? DecodeHello(answer_) : std::nullopt;
    if (!hello.has_value()) {
      return Fail(absl::UnavailableError("the peer's answer is not a hello: not a Tapedeck rail?"));
    }
    switch (hello->verdict) {
      case Verdict::kWelcome:
        return Succeed(std::move(socket_));
      case Verdict::kWrongVersion:
        return Fail(VersionMismatch(kWireVersion, hello->version,
                                    absl::StrCat("the peer speaks wire version ", hello->version,
                                                 ", this end ", kWireVersion)));
      case Verdict::kUnknownToken:
        break;
    }
    Fail(absl::UnauthenticatedError("the peer refused the session token"));
  }

  Fd socket_;
  Token token_{};
  HelloBytes answer_;
  size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Offer> NewTcpOffer(const RailPort& port, const ExposedWindow& window,
                                   const Credentials& own) {
  if (port.listener != nullptr) return std::make_unique<WaitingOffer>(port, window, own);
  return std::make_unique<CallingOffer>(port, window, own);
}

}  // namespace tapedeck::dataplane::tcp
