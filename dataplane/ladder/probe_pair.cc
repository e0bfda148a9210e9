#include "dataplane/ladder/probe_pair.h"

#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::ladder {

absl::StatusOr<std::shared_ptr<ProbePair>> ProbePair::Create(Transport& rail, Direction direction,
                                                             const ProbeMemory& memory) {
  std::shared_ptr<ProbePair> pair(new ProbePair(rail, direction, memory));
  const RemoteAccess access =
      direction == Direction::kRecord ? RemoteAccess::kRead : RemoteAccess::kWrite;
  TD_ASSIGN_OR_RETURN(pair->near_.domain, rail.OpenDomain(memory.window, access));
  TD_ASSIGN_OR_RETURN(pair->far_.domain,
                      rail.OpenDomain(memory.host->window(), RemoteAccess::kNone));
  return pair;
}

void ProbePair::Connect(int64_t deadline_ns, Done done) {
  Begin(2, std::move(done));
  for (End* end : {&near_, &far_}) {
    if (const absl::Status status = MakeOffer(*end); !status.ok()) return Finish(status);
  }
  Meet(near_, far_.offer->endpoint(), deadline_ns);
  Meet(far_, near_.offer->endpoint(), deadline_ns);
}

absl::Status ProbePair::MakeOffer(End& end) {
  TD_ASSIGN_OR_RETURN(end.offer, end.domain->NewOffer(0));
  return absl::OkStatus();
}

void ProbePair::Meet(End& end, const Endpoint& peer, int64_t deadline_ns) {
  end.offer->Connect(
      peer, deadline_ns, &end,
      [self = shared_from_this(), &end](absl::StatusOr<std::unique_ptr<Connection>> connection) {
        if (self->closing_) return;
        if (!connection.ok()) return self->Finish(connection.status());
        end.connection = *std::move(connection);
        self->Event();
      });
}

void ProbePair::Move(size_t bytes, Done done) {
  const std::span<std::byte> host = this->host().first(bytes);
  const RemoteWindow window = near_.domain->remote_window();
  const RemoteSlice slice{.address = window.address, .key = window.key};
  // A write is done when the far end's memory is free and the near end has been told.
  Begin(direction_ == Direction::kRecord ? 1 : 2, std::move(done));
  if (!broken_.ok()) return Finish(broken_);
  if (direction_ == Direction::kRecord) {
    far_.connection->Read(host, slice, 0);
  } else {
    far_.connection->Write(Frame(), host, slice, 0);
  }
}

void ProbePair::Close(Done done) {
  self_ = shared_from_this();
  Begin(1, std::move(done));
  closing_ = true;
  for (End* end : {&near_, &far_}) {
    end->offer.reset();
    if (end->connection != nullptr) {
      end->connection->Close(absl::CancelledError("the probe is over"));
    }
  }
  CheckClosed();
}

void ProbePair::End::OnClosed(const absl::Status& cause) {
  connection.reset();
  if (pair.closing_) return pair.CheckClosed();
  pair.broken_.Update(cause);
  pair.Finish(cause);
}

void ProbePair::CheckClosed() {
  if (near_.connection != nullptr || far_.connection != nullptr) return;
  rail_.poller().Post([self = std::exchange(self_, nullptr)] {
    if (self != nullptr) self->Finish(absl::OkStatus());
  });
}

void ProbePair::Begin(int events, Done done) {
  done_ = std::move(done);
  awaited_ = events;
  started_ns_ = rail_.poller().clock().NowNs();
}

void ProbePair::Event() {
  if (closing_ || done_ == nullptr || --awaited_ > 0) return;
  move_ns_ = rail_.poller().clock().NowNs() - started_ns_;
  Finish(absl::OkStatus());
}

void ProbePair::Finish(const absl::Status& status) {
  if (done_ != nullptr) std::exchange(done_, nullptr)(status);
}

}  // namespace tapedeck::dataplane::ladder
