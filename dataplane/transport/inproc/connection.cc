#include "dataplane/transport/inproc/connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::inproc {
namespace {

absl::StatusOr<std::span<std::byte>> Exposed(const End& end, RemoteSlice slice, size_t bytes,
                                             RemoteAccess needed) {
  const uint64_t offset = slice.address - end.name.address;
  if (end.access != needed || slice.key != end.name.key || slice.address < end.name.address ||
      offset > end.window.size() || bytes > end.window.size() - offset) {
    return absl::PermissionDeniedError(
        absl::StrCat("the peer asked for ", bytes, " bytes that it may not ",
                     needed == RemoteAccess::kRead ? "read" : "write"));
  }
  return end.window.subspan(offset, bytes);
}

// False once either end has closed; then the memory may be gone.
bool Copy(Wire& wire, std::span<const std::byte> from, std::span<std::byte> to) {
  absl::MutexLock lock(&wire.mutex);
  if (wire.cut) return false;
  std::ranges::copy(from, to.begin());
  return true;
}

// Tells the end that started `work`, over the direction back to it.
void CarryCompletion(const std::shared_ptr<End>& origin, uint64_t work) {
  origin->fabric->Carry(origin->rail, origin->wire_id, *origin->executor, [origin, work] {
    if (!origin->closed) origin->events->OnCompleted(work);
  });
}

}  // namespace

void End::Close(const absl::Status& cause) {
  if (closed) return;
  const std::shared_ptr<End> other = peer;
  Finish(cause);
  // A silent rail carries no farewell either.
  if (fabric->rail(rail) != RailState::kSilent)
    other->executor->Post([other] { other->PeerClosed(); });
}

// Answers nothing: the peer has closed, and its executor may be gone.
void End::PeerClosed() {
  if (closed) return;
  Finish(absl::UnavailableError(absl::StrCat("rail ", rail, ": the peer closed the connection")));
}

void End::Finish(const absl::Status& cause) {
  closed = true;
  {
    absl::MutexLock lock(&wire->mutex);
    wire->cut = true;
  }
  peer = nullptr;
  executor->Post([self = shared_from_this(), cause] {
    if (self->events != nullptr) self->events->OnClosed(cause);
  });
}

InprocConnection::~InprocConnection() {
  end_->events = nullptr;
  end_->Close(absl::CancelledError("connection destroyed"));
}

template <typename F>
void InprocConnection::Carry(F arrive) {
  if (end_->closed) return;
  if (end_->fabric->rail(end_->rail) == RailState::kCut) {
    return end_->Close(absl::UnavailableError(absl::StrCat("rail ", end_->rail, ": cut")));
  }
  const std::shared_ptr<End> peer = end_->peer;
  end_->fabric->Carry(end_->rail, peer->wire_id, *peer->executor,
                      [peer, origin = end_, arrive = std::move(arrive)]() mutable {
                        if (peer->closed) return;
                        if (const absl::Status status = arrive(peer, origin); !status.ok()) {
                          peer->Close(status);
                        }
                      });
}

void InprocConnection::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  Carry([frame, payload, work](const std::shared_ptr<End>& peer,
                               const std::shared_ptr<End>& origin) -> absl::Status {
    std::span<std::byte> buffer;
    if (!payload.empty()) {
      if (peer->receives.empty() || peer->receives.front().size() < payload.size()) {
        return absl::ResourceExhaustedError("received a payload that no posted receive can hold");
      }
      buffer = peer->receives.front().first(payload.size());
      if (!Copy(*peer->wire, payload, buffer)) return absl::OkStatus();
      peer->receives.pop_front();
      CarryCompletion(origin, work);
    }
    peer->events->OnFrame(frame, buffer);
    return absl::OkStatus();
  });
}

void InprocConnection::Write(const Frame& frame, std::span<const std::byte> payload,
                             RemoteSlice target, uint64_t work) {
  Carry([frame, payload, target, work](const std::shared_ptr<End>& peer,
                                       const std::shared_ptr<End>& origin) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const std::span<std::byte> into,
                        Exposed(*peer, target, payload.size(), RemoteAccess::kWrite));
    if (!Copy(*peer->wire, payload, into)) return absl::OkStatus();
    CarryCompletion(origin, work);
    peer->events->OnFrame(frame, {});
    return absl::OkStatus();
  });
}

void InprocConnection::Read(std::span<std::byte> into, RemoteSlice origin_slice, uint64_t work) {
  Carry([into, origin_slice, work](const std::shared_ptr<End>& peer,
                                   const std::shared_ptr<End>& origin) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const std::span<std::byte> from,
                        Exposed(*peer, origin_slice, into.size(), RemoteAccess::kRead));
    if (Copy(*peer->wire, from, into)) CarryCompletion(origin, work);
    return absl::OkStatus();
  });
}

}  // namespace tapedeck::dataplane::inproc
