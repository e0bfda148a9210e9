#include "dataplane/transport/ipc/connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tapedeck::dataplane::ipc {

absl::StatusOr<uint64_t> IpcConnection::OffsetOf(RemoteSlice slice, size_t bytes,
                                                 RemoteAccess needed) const {
  const RemoteWindow& window = parts_.peer.window;
  const uint64_t offset = slice.address - window.address;
  if (parts_.path == nullptr || parts_.peer.access != needed || slice.key != window.key ||
      slice.address < window.address || offset > window.bytes || bytes > window.bytes - offset) {
    return absl::PermissionDeniedError(
        absl::StrCat(parts_.rail, ": the peer has not opened these ", bytes, " bytes to ",
                     needed == RemoteAccess::kRead ? "be read" : "be written"));
  }
  return offset;
}

void IpcConnection::Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) {
  if (closed_) return;
  const auto offset = OffsetOf(origin, into.size(), RemoteAccess::kRead);
  if (!offset.ok()) return Close(offset.status());
  ++copies_;
  auto ended = lifetime_.Guard([this, work](const absl::Status& status) {
    if (CopyEnded(status)) parts_.events->OnCompleted(work);
  });
  parts_.path->Read(into, *offset,
                    [poller = parts_.poller, ended = std::move(ended)](absl::Status status) {
                      poller->Post([ended, status]() mutable { ended(status); });
                    });
}

void IpcConnection::Write(const Frame& frame, std::span<const std::byte> payload,
                          RemoteSlice target, uint64_t work) {
  if (closed_) return;
  const auto offset = OffsetOf(target, payload.size(), RemoteAccess::kWrite);
  if (!offset.ok()) return Close(offset.status());
  const uint64_t number = ++numbered_;
  outgoing_.push_back({.number = number, .written = true, .frame = frame, .work = work});
  ++copies_;
  auto ended = lifetime_.Guard([this, number](const absl::Status& status) {
    if (!CopyEnded(status)) return;
    std::ranges::find(outgoing_, number, &Outgoing::number)->ready = true;
    SendReady();
  });
  parts_.path->Write(payload, *offset,
                     [poller = parts_.poller, ended = std::move(ended)](absl::Status status) {
                       poller->Post([ended, status]() mutable { ended(status); });
                     });
}

void IpcConnection::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  if (closed_) return;
  if (!payload.empty() && !parts_.local.host_accessible) {
    return Close(absl::UnimplementedError(
        absl::StrCat(parts_.rail, ": memory of a GPU cannot be sent; use the transfer op read")));
  }
  outgoing_.push_back(
      {.number = ++numbered_, .ready = true, .frame = frame, .payload = payload, .work = work});
  SendReady();
}

// In their order. The peer may answer what it is told without any payload over the wire.
void IpcConnection::SendReady() {
  while (!outgoing_.empty() && outgoing_.front().ready && !closed_) {
    const Outgoing out = outgoing_.front();
    outgoing_.pop_front();
    wire_->AllowAnswers();
    wire_->Send(out.frame, out.payload, out.work);
    if (out.written && !closed_) parts_.events->OnCompleted(out.work);
  }
}

void IpcConnection::PostReceive(std::span<std::byte> buffer) {
  if (closed_) return;
  if (parts_.local.host_accessible) return wire_->PostReceive(buffer);
  Close(absl::UnimplementedError(absl::StrCat(
      parts_.rail, ": memory of a GPU cannot be sent to; use the transfer op read or write")));
}

void IpcConnection::Close(const absl::Status& cause) {
  if (closed_) return;
  closed_ = true;
  wire_->Close(cause);
}

void IpcConnection::OnClosed(const absl::Status& cause) {
  closed_ = true;
  wire_closed_ = true;
  cause_ = cause;
  TellClosed();
}

bool IpcConnection::CopyEnded(const absl::Status& status) {
  --copies_;
  if (!closed_ && status.ok()) {
    wire_->AllowAnswers();
    return true;
  }
  if (!closed_) Close(status);
  TellClosed();
  return false;
}

// Whoever is told may destroy this.
void IpcConnection::TellClosed() {
  if (!wire_closed_ || copies_ > 0) return;
  const absl::Status cause = cause_;
  parts_.events->OnClosed(cause);
}

}  // namespace tapedeck::dataplane::ipc
