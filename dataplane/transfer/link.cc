#include "dataplane/transfer/link.h"

#include <utility>

namespace tapedeck::dataplane {

Link::Link(Executor& executor, Transport& transport, std::shared_ptr<Domain> domain, size_t index,
           uint32_t connection, LinkEvents* events)
    : executor_(executor),
      transport_(transport),
      poller_(transport.NextPoller()),
      domain_(std::move(domain)),
      index_(index),
      connection_(connection),
      events_(events) {}

Link::~Link() { Close(absl::CancelledError("the session ended")); }

// Runs f(port) on the poller. The task keeps the port and the domain it is registered in.
template <typename F>
void Link::OnPoller(F f) {
  poller().Post([port = port_, domain = domain_, f = std::move(f)]() mutable { f(*port); });
}

void Link::Become(State state) {
  if (state_ == State::kUp) --meter().links_up;
  if (state == State::kUp) ++meter().links_up;
  state_ = state;
}

void Link::MakeOffer(std::function<void(absl::StatusOr<Endpoint>)> done) {
  ++generation_;
  Become(State::kOffered);
  on_offer_ = std::move(done);
  LinkPortEvents* const events = this;
  port_ = std::make_shared<LinkPort>(poller(), executor_, events, lifetime_.token(),
                                     PortTrail{trail_, index_});
  OnPoller([domain = domain_.get(), poller = poller_](LinkPort& port) {
    port.MakeOffer(*domain, poller);
  });
}

void Link::Connect(const Endpoint& peer, const RemoteWindow& peer_window, int64_t deadline_ns) {
  if (state_ != State::kOffered) return;
  Become(State::kConnecting);
  peer_window_ = peer_window;
  OnPoller([peer, deadline_ns](LinkPort& port) { port.Connect(peer, deadline_ns); });
}

void Link::PortOffered(const LinkPort* port, absl::StatusOr<Endpoint> endpoint) {
  if (port == port_.get()) on_offer_(std::move(endpoint));
}

void Link::PortUp(const LinkPort* port) {
  if (port != port_.get() || state_ != State::kConnecting) return;
  Become(State::kUp);
  last_failure_ = absl::OkStatus();
  events_->OnLinkUp(*this);
}

void Link::PortDown(const LinkPort* port, const absl::Status& cause) {
  if (port != port_.get()) return;
  Become(State::kDown);
  last_failure_ = cause;
  events_->OnLinkDown(*this, cause);
}

void Link::PortFrame(const LinkPort* port, const Frame& frame, std::span<std::byte> payload) {
  if (port == port_.get() && up()) events_->OnLinkFrame(*this, frame, payload);
}

void Link::PortCompleted(const LinkPort* port, uint64_t work) {
  if (port == port_.get() && up()) events_->OnLinkCompleted(*this, work);
}

void Link::Close(const absl::Status& cause) {
  if (state_ == State::kDown || state_ == State::kClosing) return;
  Become(State::kClosing);
  OnPoller([cause](LinkPort& port) { port.Close(cause); });
}

void Link::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  if (!up()) return;
  OnPoller([frame, payload, work](LinkPort& port) { port.Send(frame, payload, work); });
}

void Link::Write(const Frame& frame, std::span<const std::byte> payload, uint64_t offset,
                 uint64_t work) {
  if (!up()) return;
  const RemoteSlice target{.address = peer_window_.address + offset, .key = peer_window_.key};
  OnPoller(
      [frame, payload, target, work](LinkPort& port) { port.Write(frame, payload, target, work); });
}

void Link::Read(std::span<std::byte> into, uint64_t offset, uint64_t work) {
  if (!up()) return;
  const RemoteSlice origin{.address = peer_window_.address + offset, .key = peer_window_.key};
  OnPoller([into, origin, work](LinkPort& port) { port.Read(into, origin, work); });
}

void Link::PostReceive(std::span<std::byte> buffer) {
  if (!up()) return;
  OnPoller([buffer](LinkPort& port) { port.PostReceive(buffer); });
}

}  // namespace tapedeck::dataplane
