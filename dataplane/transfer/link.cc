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
      events_(events),
      asked_(executor, [this](std::vector<PortWork> work) {
        OnPoller([work = std::move(work)](LinkPort& port) { port.Do(work); });
      }) {}

Link::~Link() {
  Close(absl::CancelledError("the session ended"));
  LetGoOfPort();
}

// It ends on its poller, which may have something of it for the end of the turn.
void Link::LetGoOfPort() {
  if (port_ != nullptr) poller().Post([port = std::move(port_)] {});
}

// The task keeps the port and the domain it is registered in.
template <typename F>
void Link::OnPoller(F f) {
  asked_.Flush();
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
  LetGoOfPort();
  const uint32_t piece_bytes = arrivals_ == nullptr ? 0 : arrivals_->piece_bytes();
  port_ = std::make_shared<LinkPort>(
      poller(), executor_, events, lifetime_.token(),
      PortSettings{.trail = trail_, .link = index_, .piece_bytes = piece_bytes});
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

void Link::PortHeard(const LinkPort* port, PortEvent event) {
  if (port != port_.get() || !up()) return;
  if (!event.arrived.empty()) {
    arrivals_->Arrived(event.arrived, std::move(event.crcs), &poller(), event.crc_ns);
  }
  if (event.is_frame) return events_->OnLinkFrame(*this, event.frame, event.payload);
  events_->OnLinkCompleted(*this, event.work);
}

void Link::Close(const absl::Status& cause) {
  if (state_ == State::kDown || state_ == State::kClosing) return;
  Become(State::kClosing);
  OnPoller([cause](LinkPort& port) { port.Close(cause); });
}

// `payload_bytes`: that the peer or this end waits for. What is asked for of a link that is not up
// is dropped.
void Link::Ask(const PortWork& work, size_t payload_bytes) {
  if (up()) asked_.Add(work, payload_bytes);
}

void Link::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  Ask({.kind = PortWork::Kind::kSend, .frame = frame, .payload = payload, .work = work},
      frame.block.payload_bytes);
}

void Link::Write(const Frame& frame, std::span<const std::byte> payload, uint64_t offset,
                 uint64_t work) {
  Ask({.kind = PortWork::Kind::kWrite,
       .frame = frame,
       .payload = payload,
       .remote = {.address = peer_window_.address + offset, .key = peer_window_.key},
       .work = work},
      payload.size());
}

void Link::Read(std::span<std::byte> into, uint64_t offset, uint64_t work) {
  Ask({.kind = PortWork::Kind::kRead,
       .into = into,
       .remote = {.address = peer_window_.address + offset, .key = peer_window_.key},
       .work = work},
      into.size());
}

void Link::GrantReceive(const Frame& frame, std::span<std::byte> slot) {
  Ask({.kind = PortWork::Kind::kGrantReceive, .frame = frame, .into = slot}, slot.size());
}

void Link::GrantWrite(const Frame& frame, std::span<std::byte> slot) {
  Ask({.kind = PortWork::Kind::kGrantWrite, .frame = frame, .into = slot}, slot.size());
}

}  // namespace tapedeck::dataplane
