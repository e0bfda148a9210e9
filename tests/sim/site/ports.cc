#include "tests/sim/site/ports.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/inproc/transport.h"

namespace tapedeck::sim {

using namespace dataplane;  // NOLINT: the seam that this implements

namespace {

// Holds each operation back until its bits have passed both ports.
class PortConnection final : public Connection {
 public:
  PortConnection(std::unique_ptr<Connection> inner, Ports& ports, Port& own, Port& peer,
                 Executor& executor)
      : inner_(std::move(inner)),
        ports_(ports),
        number_(ports.NewConnection()),
        own_(own),
        peer_(peer),
        executor_(executor) {}

  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) override {
    Outward(payload.size(), [=, this] { inner_->Send(frame, payload, work); });
  }
  void Write(const Frame& frame, std::span<const std::byte> payload, RemoteSlice target,
             uint64_t work) override {
    Outward(payload.size(), [=, this] { inner_->Write(frame, payload, target, work); });
  }
  // The request goes there, the data comes back.
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) override {
    Outward(0, [=, this] {
      peer_.Carry(number_, own_, WireBytes(into.size() * ports_.scale()), executor_,
                  lifetime_.Guard([=, this] { inner_->Read(into, origin, work); }));
    });
  }
  void PostReceive(std::span<std::byte> buffer) override { inner_->PostReceive(buffer); }
  void Close(const absl::Status& cause) override { inner_->Close(cause); }

 private:
  // A frame beside the payload is 64 bytes of the same message.
  template <typename F>
  void Outward(size_t payload, F arrived) {
    own_.Carry(number_, peer_, WireBytes(64 + payload * ports_.scale()), executor_,
               lifetime_.Guard(std::move(arrived)));
  }

  const std::unique_ptr<Connection> inner_;
  Ports& ports_;
  const uint64_t number_;
  Port& own_;
  Port& peer_;
  Executor& executor_;
  Lifetime lifetime_;
};

class PortOffer final : public Offer {
 public:
  PortOffer(std::unique_ptr<Offer> inner, Ports& ports, Port& own, Executor& executor)
      : inner_(std::move(inner)), ports_(ports), own_(own), executor_(executor) {
    ports_.Note(inner_->endpoint(), own_);
  }

  const Endpoint& endpoint() const override { return inner_->endpoint(); }
  void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
               std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done) override {
    inner_->Connect(
        peer, deadline_ns, events,
        [&ports = ports_, &own = own_, &executor = executor_, peer,
         done = std::move(done)](absl::StatusOr<std::unique_ptr<Connection>> made) {
          Port* const there = ports.Find(peer);
          if (!made.ok() || there == nullptr) return done(std::move(made));
          done(std::make_unique<PortConnection>(*std::move(made), ports, own, *there, executor));
        });
  }

 private:
  const std::unique_ptr<Offer> inner_;
  Ports& ports_;
  Port& own_;
  Executor& executor_;
};

class PortDomain final : public Domain {
 public:
  PortDomain(std::unique_ptr<Domain> inner, Ports& ports, Port& own, Executor& executor)
      : inner_(std::move(inner)), ports_(ports), own_(own), executor_(executor) {}

  RemoteWindow remote_window() const override { return inner_->remote_window(); }
  absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) override {
    TD_ASSIGN_OR_RETURN(auto offer, inner_->NewOffer(poller));
    return std::make_unique<PortOffer>(std::move(offer), ports_, own_, executor_);
  }

 private:
  const std::unique_ptr<Domain> inner_;
  Ports& ports_;
  Port& own_;
  Executor& executor_;
};

class PortTransport final : public Transport {
 public:
  PortTransport(std::unique_ptr<Transport> inner, Ports& ports, Port& own)
      : Transport(inner->pollers()), inner_(std::move(inner)), ports_(ports), own_(own) {}

  const RailDescription& rail() const override { return inner_->rail(); }
  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    TD_ASSIGN_OR_RETURN(auto domain, inner_->OpenDomain(window, access));
    return std::make_unique<PortDomain>(std::move(domain), ports_, own_, poller());
  }

 private:
  const std::unique_ptr<Transport> inner_;
  Ports& ports_;
  Port& own_;
};

}  // namespace

void Port::Carry(uint64_t connection, Port& to, uint64_t bytes, Executor& there, Task arrived) {
  waiting_[connection].push_back({&to, bytes, &there, std::move(arrived)});
  if (!busy_) SendNext();
}

// Bits arrive as they leave: where nothing waits, both ports carry the message at the same time.
void Port::SendNext() {
  busy_ = !waiting_.empty();
  if (!busy_) return;
  auto next = waiting_.upper_bound(turn_);
  if (next == waiting_.end()) next = waiting_.begin();
  turn_ = next->first;
  Message message = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) waiting_.erase(next);
  const int64_t now_ns = executor_.clock().NowNs();
  const auto takes_ns = static_cast<int64_t>(
      static_cast<double>(message.bytes) * 1e9 / static_cast<double>(kPortBytesPerS) + 0.5);
  message.to->free_ns_ = std::max(message.to->free_ns_, now_ns + kCableNs) + takes_ns;
  sent_bytes_ += message.bytes;
  message.to->received_bytes_ += message.bytes;
  message.there->PostAt(message.to->free_ns_, std::move(message.arrived));
  executor_.PostAt(now_ns + takes_ns, lifetime_.Guard([this] { SendNext(); }));
}

std::unique_ptr<Transport> Ports::NewRail(const std::string& name, Port& port, Executor& poller) {
  return std::make_unique<PortTransport>(inproc::Create(name, poller, fabric_), *this, port);
}

void Ports::Note(const Endpoint& endpoint, Port& port) {
  if (const auto* inproc = std::get_if<InprocEndpoint>(&endpoint)) ports_[inproc->id] = &port;
}

Port* Ports::Find(const Endpoint& endpoint) const {
  const auto* inproc = std::get_if<InprocEndpoint>(&endpoint);
  const auto it = inproc == nullptr ? ports_.end() : ports_.find(inproc->id);
  return it == ports_.end() ? nullptr : it->second;
}

}  // namespace tapedeck::sim
