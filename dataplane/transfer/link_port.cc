#include "dataplane/transfer/link_port.h"

#include "absl/strings/str_cat.h"
#include "dataplane/transfer/link.h"

namespace tapedeck::dataplane {

LinkPort::LinkPort(Executor& poller, Executor& owner, LinkPortEvents* events,
                   std::weak_ptr<char> alive, const PortSettings& settings)
    : poller_(poller),
      owner_(owner),
      events_(events),
      alive_(std::move(alive)),
      settings_(settings),
      heard_(poller, [this](std::vector<PortEvent> events) { Deliver(std::move(events)); }) {
  if (settings_.piece_bytes != 0) arriving_.emplace(settings_.piece_bytes, poller_.clock());
}

template <typename F>
void LinkPort::Tell(F f) {
  heard_.Flush();
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

void LinkPort::Begin(const Frame* frame, uint64_t work, std::span<std::byte> into) {
  const int64_t now_ns = poller_.clock().NowNs();
  under_way_[work] = {.since_ns = now_ns, .of_block = frame != nullptr, .into = into};
  if (frame == nullptr) return;
  settings_.trail.Stamp(
      flight::Kind::kTaken,
      {.sequence = frame->block.sequence, .place = settings_.link, .now_ns = now_ns});
}

void LinkPort::Do(const std::vector<PortWork>& work) {
  for (const PortWork& one : work) {
    if (connection_ == nullptr) return;
    Do(one);
  }
}

void LinkPort::Do(const PortWork& work) {
  switch (work.kind) {
    case PortWork::Kind::kSend:
      return Send(work.frame, work.payload, work.work);
    case PortWork::Kind::kWrite:
      return Write(work);
    case PortWork::Kind::kRead:
      return Read(work);
    case PortWork::Kind::kGrantReceive:
      connection_->PostReceive(work.into);
      return Send(work.frame, {}, 0);
    case PortWork::Kind::kGrantWrite:
      if (settings_.piece_bytes != 0) granted_[work.frame.slot] = work.into;
      return Send(work.frame, {}, 0);
  }
}

void LinkPort::Send(Frame frame, std::span<const std::byte> payload, uint64_t work) {
  frame.number = next_sent_++;
  if (!payload.empty()) Begin(&frame, work);
  connection_->Send(frame, payload, work);
}

void LinkPort::Write(const PortWork& work) {
  Frame frame = work.frame;
  frame.number = next_sent_++;
  Begin(&frame, work.work);
  connection_->Write(frame, work.payload, work.remote, work.work);
}

void LinkPort::Read(const PortWork& work) {
  Begin(nullptr, work.work, work.into);
  connection_->Read(work.into, work.remote, work.work);
}

void LinkPort::OnFrame(const Frame& frame, std::span<std::byte> payload) {
  last_heard_ns_ = poller_.clock().NowNs();
  if (frame.number != next_received_) {
    return connection_->Close(absl::DataLossError(
        absl::StrCat("frame ", frame.number, " arrived instead of frame ", next_received_)));
  }
  ++next_received_;
  if (frame.type == FrameType::kPing) return;
  if (untaken_->fetch_add(1) >= kMaxUntakenFrames) {
    return connection_->Close(absl::ResourceExhaustedError(
        absl::StrCat("the peer sent more than ", kMaxUntakenFrames, " frames ahead of this end")));
  }
  Hear({.is_frame = true, .frame = frame, .payload = payload},
       payload.empty() ? Granted(frame) : payload);
}

void LinkPort::OnCompleted(uint64_t work) {
  std::span<std::byte> read;
  if (const auto done = under_way_.extract(work); !done.empty()) {
    read = done.mapped().into;
    if (done.mapped().of_block) {
      settings_.trail.Stamp(flight::Kind::kSent, {.sequence = work, .place = settings_.link});
    }
  }
  Hear({.work = work}, read);
}

// What the peer has put into a slot before it sent `frame`. Empty for a slot that it was not given:
// the owner refuses such a block.
std::span<std::byte> LinkPort::Granted(const Frame& frame) {
  if (frame.type != FrameType::kBlock || frame.block.payload_bytes == 0) return {};
  const auto slot = granted_.extract(frame.slot);
  if (slot.empty() || frame.block.payload_bytes > slot.mapped().size()) return {};
  return slot.mapped().first(frame.block.payload_bytes);
}

void LinkPort::OnArriving(std::span<const std::byte> more) {
  if (arriving_.has_value()) arriving_->Add(more);
}

// With `arrived` a payload is complete.
void LinkPort::Hear(PortEvent event, std::span<std::byte> arrived) {
  if (arriving_.has_value()) {
    ArrivingPayload::Checked checked = arriving_->Complete(arrived);
    event.arrived = arrived;
    event.crcs = std::move(checked.pieces);
    event.crc_ns = checked.busy_ns;
  }
  heard_.Add(std::move(event), arrived.size());
}

void LinkPort::Deliver(std::vector<PortEvent> events) {
  owner_.Post([listener = events_, alive = alive_, port = this, untaken = untaken_,
               events = std::move(events)]() mutable {
    for (PortEvent& one : events) {
      if (one.is_frame) untaken->fetch_sub(1);
      if (!alive.expired()) listener->PortHeard(port, std::move(one));
    }
  });
}

}  // namespace tapedeck::dataplane
