#include "dataplane/transfer/link_port.h"

#include "absl/strings/str_cat.h"
#include "dataplane/transfer/link.h"

namespace tapedeck::dataplane {

template <typename F>
void LinkPort::Tell(F f) {
  owner_.Post([events = events_, alive = alive_, port = this, f = std::move(f)]() mutable {
    if (!alive.expired()) f(*events, port);
  });
}

void LinkPort::MakeOffer(Domain& domain, size_t poller) {
  absl::StatusOr<std::unique_ptr<Offer>> offer = domain.NewOffer(poller);
  const absl::Status status = offer.status();
  if (status.ok()) offer_ = *std::move(offer);
  const auto endpoint =
      status.ok() ? absl::StatusOr<Endpoint>(offer_->endpoint()) : absl::StatusOr<Endpoint>(status);
  Tell([endpoint](LinkPortEvents& events, const LinkPort* port) {
    events.PortOffered(port, endpoint);
  });
  if (!status.ok()) Down(status);
}

void LinkPort::Connect(const Endpoint& peer, int64_t deadline_ns) {
  if (down_ || offer_ == nullptr) return;
  // The offer may report after it was withdrawn; the port is down then, or gone. It must not keep
  // the port that keeps it.
  offer_->Connect(peer, deadline_ns, this, [port = weak_from_this()](auto connection) {
    if (const auto self = port.lock()) self->OnConnected(std::move(connection));
  });
}

void LinkPort::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  if (down_) return;
  if (!connection.ok()) return Down(connection.status());
  connection_ = *std::move(connection);
  last_heard_ns_ = poller_.clock().NowNs();
  Tell([](LinkPortEvents& events, const LinkPort* port) { events.PortUp(port); });
  Beat();
}

absl::Status LinkPort::Overdue() const {
  const int64_t now_ns = poller_.clock().NowNs();
  if (now_ns - last_heard_ns_ >= kLinkSilenceNs) {
    return absl::UnavailableError("the peer has been silent for 3 s");
  }
  for (const auto& [work, started] : under_way_) {
    if (now_ns - started.since_ns >= kOperationDeadlineNs) {
      return absl::DeadlineExceededError("an operation has not completed in 5 s");
    }
  }
  return absl::OkStatus();
}

void LinkPort::Beat() {
  if (connection_ == nullptr) return;
  if (const absl::Status status = Overdue(); !status.ok()) return connection_->Close(status);
  Send(Frame{.type = FrameType::kPing}, {}, 0);
  poller_.PostAfter(kLinkPingNs, lifetime_.Guard([this] { Beat(); }));
}

void LinkPort::Close(const absl::Status& cause) {
  if (down_) return;
  if (connection_ != nullptr) {
    connection_->Close(cause);  // OnClosed follows
  } else {
    Down(cause);
  }
}

void LinkPort::Down(const absl::Status& cause) {
  if (down_) return;
  down_ = true;
  offer_.reset();
  connection_.reset();
  Tell([cause](LinkPortEvents& events, const LinkPort* port) { events.PortDown(port, cause); });
}

void LinkPort::Begin(const Frame* frame, uint64_t work) {
  const int64_t now_ns = poller_.clock().NowNs();
  under_way_[work] = {.since_ns = now_ns, .of_block = frame != nullptr};
  if (frame == nullptr) return;
  trail_.trail.Stamp(flight::Kind::kTaken,
                     {.sequence = frame->block.sequence, .place = trail_.link, .now_ns = now_ns});
}

void LinkPort::Send(Frame frame, std::span<const std::byte> payload, uint64_t work) {
  if (connection_ == nullptr) return;
  frame.number = next_sent_++;
  if (!payload.empty()) Begin(&frame, work);
  connection_->Send(frame, payload, work);
}

void LinkPort::Write(Frame frame, std::span<const std::byte> payload, RemoteSlice target,
                     uint64_t work) {
  if (connection_ == nullptr) return;
  frame.number = next_sent_++;
  Begin(&frame, work);
  connection_->Write(frame, payload, target, work);
}

void LinkPort::Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) {
  if (connection_ == nullptr) return;
  Begin(nullptr, work);
  connection_->Read(into, origin, work);
}

void LinkPort::PostReceive(std::span<std::byte> buffer) {
  if (connection_ != nullptr) connection_->PostReceive(buffer);
}

void LinkPort::OnFrame(const Frame& frame, std::span<std::byte> payload) {
  last_heard_ns_ = poller_.clock().NowNs();
  if (frame.number != next_received_) {
    return connection_->Close(absl::DataLossError(
        absl::StrCat("frame ", frame.number, " came where ", next_received_, " was due")));
  }
  ++next_received_;
  if (frame.type == FrameType::kPing) return;
  if (untaken_->fetch_add(1) >= kMaxUntakenFrames) {
    return connection_->Close(absl::ResourceExhaustedError(
        absl::StrCat("the peer sent ", kMaxUntakenFrames, " frames before they were looked at")));
  }
  owner_.Post([events = events_, alive = alive_, port = this, untaken = untaken_, frame, payload] {
    untaken->fetch_sub(1);
    if (!alive.expired()) events->PortFrame(port, frame, payload);
  });
}

void LinkPort::OnCompleted(uint64_t work) {
  const auto done = under_way_.extract(work);
  if (!done.empty() && done.mapped().of_block) {
    trail_.trail.Stamp(flight::Kind::kSent, {.sequence = work, .place = trail_.link});
  }
  Tell([work](LinkPortEvents& events, const LinkPort* port) { events.PortCompleted(port, work); });
}

}  // namespace tapedeck::dataplane
