#include "dataplane/transport/tcp/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::tcp {
namespace {

// Pieces per sendmsg(2): 32 operations. Fewer would cost a call per few frames when many are
// queued.
constexpr size_t kPieces = 64;

// Bytes received before other work of the poller gets its turn.
constexpr size_t kReceiveBudget = 4 << 20;

// Operations received before: a flood of small ones must not hold up the other connections of the
// poller. An honest peer has fewer under way.
constexpr size_t kReceiveOperations = 256;

// Operations that wait for the peer to read; about 130 bytes each. An honest peer always reads, so
// no more wait than blocks are held at either end: kMaxLaneDepth and kMaxMissingHeld.
constexpr size_t kMaxOutgoing = 4096;

// A peer whose socket takes nothing for this long while something waits has stopped reading.
// Shorter would mistake a stalled scheduler.
constexpr int64_t kUnreadNs = 5 * kSecondNs;

// Payload bytes worth a wake-up, and received at once: they stay in the L2 cache.
constexpr size_t kPieceBytes = 256 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<TcpConnection>> TcpConnection::Create(EventLoop& poller, Fd socket,
                                                                     const ExposedWindow& window,
                                                                     std::string rail,
                                                                     ConnectionEvents* events) {
  auto connection = std::unique_ptr<TcpConnection>(
      new TcpConnection(poller, std::move(socket), window, std::move(rail), events));
  TcpConnection* raw = connection.get();
  TD_RETURN_IF_ERROR(poller.Watch(raw->socket_.get(), EPOLLIN | raw->edges_,
                                  raw->lifetime_.Guard([raw](uint32_t e) { raw->OnReady(e); })));
  return connection;
}

TcpConnection::~TcpConnection() {
  if (!closed_) poller_.Unwatch(socket_.get());
}

void TcpConnection::Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work) {
  Queue({.kind = OpKind::kSend, .work = work}, &frame, payload, !payload.empty());
}

void TcpConnection::Write(const Frame& frame, std::span<const std::byte> payload,
                          RemoteSlice target, uint64_t work) {
  Queue({.kind = OpKind::kWrite, .key = target.key, .address = target.address, .work = work},
        &frame, payload, true);
}

void TcpConnection::Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work) {
  reads_[work] = into;
  Queue({.kind = OpKind::kReadRequest,
         .payload_bytes = static_cast<uint32_t>(into.size()),
         .key = origin.key,
         .address = origin.address,
         .work = work},
        nullptr, {}, false);
}

// Pings see to it that this is asked every second.
absl::Status TcpConnection::PeerReads() const {
  if (outgoing_.size() >= kMaxOutgoing) {
    return absl::ResourceExhaustedError(
        absl::StrCat(rail_, ": the peer has not read ", outgoing_.size(), " operations"));
  }
  if (!outgoing_.empty() && poller_.clock().NowNs() - taken_ns_ >= kUnreadNs) {
    return absl::UnavailableError(absl::StrCat(rail_, ": the peer has read nothing for 5 s"));
  }
  return absl::OkStatus();
}

void TcpConnection::Queue(const OpHeader& header, const Frame* frame,
                          std::span<const std::byte> payload, bool completes) {
  if (closed_) return;
  if (const absl::Status status = PeerReads(); !status.ok()) return Close(status);
  OpHeader sized = header;
  if (sized.kind != OpKind::kReadRequest)
    sized.payload_bytes = static_cast<uint32_t>(payload.size());
  if (!payload.empty()) allowance_.OnPayload();
  if (outgoing_.empty()) taken_ns_ = poller_.clock().NowNs();
  Outgoing& out = outgoing_.emplace_back();
  out.payload = payload;
  out.work = header.work;
  out.completes = completes;
  const std::span preamble(out.preamble);
  EncodeOpHeader(sized, preamble.first<kOpHeaderBytes>());
  const FrameBytes frame_bytes = frame != nullptr ? EncodeFrame(*frame) : FrameBytes{};
  std::ranges::copy(frame_bytes, preamble.subspan<kOpHeaderBytes>().begin());
  if (flush_due_ || waiting_writable_) return;
  flush_due_ = true;
  poller_.AtEndOfTurn(lifetime_.Guard([this] { Flush(); }));
}

void TcpConnection::Close(const absl::Status& cause) {
  if (closed_) return;
  closed_ = true;
  poller_.Unwatch(socket_.get());
  socket_ = Fd();
  outgoing_.clear();
  poller_.Post(lifetime_.Guard([this, cause] { events_->OnClosed(cause); }));
}

void TcpConnection::OnReady(uint32_t epoll_events) {
  if (epoll_events & EPOLLOUT) Flush();
  // What a peer that is gone has left is read to its end, which no pause would keep from being
  // told.
  const bool gone = (epoll_events & (EPOLLHUP | EPOLLERR)) != 0;
  if (!closed_ && (gone || ((epoll_events & EPOLLIN) && MayReceive()))) Receive();
}

void TcpConnection::Flush() {
  flush_due_ = false;
  while (!closed_ && !outgoing_.empty()) {
    std::array<iovec, kPieces> pieces;
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = Gather(pieces);
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) {
        return Close(CallFailed(rail_, "sendmsg", errno));
      }
      break;
    }
    Sent(static_cast<size_t>(sent));
    // It has taken what it has room for. Where edges are watched it must say so.
    if (front_sent_ > 0 && edges_ == 0) break;
  }
  if (closed_) return;
  const bool blocked = !outgoing_.empty();
  if (std::exchange(waiting_writable_, blocked) != blocked) WatchFor();
}

void TcpConnection::WatchFor() const {
  poller_.Modify(socket_.get(),
                 edges_ | (paused_ ? 0u : EPOLLIN) | (waiting_writable_ ? EPOLLOUT : 0u));
}

// Lays out what the kernel shall take next; returns the number of pieces used.
size_t TcpConnection::Gather(std::span<iovec> pieces) const {
  size_t n = 0;
  size_t skip = front_sent_;
  const auto add = [&](std::span<const std::byte> bytes) {
    const size_t skipped = std::min(skip, bytes.size());
    skip -= skipped;
    if (skipped == bytes.size()) return;
    const std::span<const std::byte> rest = bytes.subspan(skipped);
    pieces[n++] = {const_cast<std::byte*>(rest.data()), rest.size()};
  };
  for (auto it = outgoing_.begin(); it != outgoing_.end() && n + 2 <= pieces.size(); ++it) {
    add(it->preamble);
    add(it->payload);
  }
  return n;
}

void TcpConnection::Sent(size_t bytes) {
  front_sent_ += bytes;
  taken_ns_ = poller_.clock().NowNs();
  while (!outgoing_.empty()) {
    const size_t whole = kPreambleBytes + outgoing_.front().payload.size();
    if (front_sent_ < whole) return;
    front_sent_ -= whole;
    const Outgoing done = outgoing_.front();
    outgoing_.pop_front();
    if (done.completes) events_->OnCompleted(done.work);
    if (closed_) return;
  }
}

// A peer without allowance is left alone for a while; what it sends then waits on its own side.
bool TcpConnection::MayReceive() {
  const int64_t now_ns = poller_.clock().NowNs();
  const bool may = allowance_.AnyLeft(now_ns);
  if (std::exchange(paused_, !may) == may) WatchFor();
  if (paused_) {
    poller_.PostAt(now_ns + Allowance::kPauseNs, lifetime_.Guard([this] {
      if (!closed_ && MayReceive()) Receive();
    }));
  }
  return may;
}

void TcpConnection::Receive() {
  size_t operations = 0;
  for (size_t total = 0; !closed_ && total < kReceiveBudget && operations < kReceiveOperations;) {
    // A piece of the payload, so that it is looked at in the cache; or its rest, then preambles.
    // What follows a preamble is not known yet: of the next payload as much is taken along as there
    // is room for other preambles.
    std::array<iovec, 2> pieces;
    size_t n = 0;
    size_t room = 0;
    const auto add = [&](std::span<std::byte> bytes) {
      pieces[n++] = {bytes.data(), bytes.size()};
      room += bytes.size();
    };
    const size_t rest = in_payload_ ? payload_.size() - payload_bytes_ : 0;
    if (rest > 0) add(payload_.subspan(payload_bytes_, std::min(rest, kPieceBytes)));
    if (rest <= kPieceBytes) add(std::span(staged_).subspan(staged_bytes_));
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = n;
    const ssize_t got = recvmsg(socket_.get(), &message, 0);
    if (got > 0) {
      total += static_cast<size_t>(got);
      operations += 1 + Received(static_cast<size_t>(got));
      // There was no more. Where the kernel deciphers it also stops at the end of a record.
      if (static_cast<size_t>(got) < room && edges_ == 0) break;
    } else if (got == 0) {
      Close(absl::UnavailableError(absl::StrCat(rail_, ": the peer closed the connection")));
    } else if (errno == EAGAIN) {
      return AwaitPiece();
    } else if (errno != EINTR) {
      Close(CallFailed(rail_, "recvmsg", errno));
    }
  }
  if (closed_) return;
  AwaitPiece();
  if (edges_ != 0) WatchFor();  // the edge has passed, and there is more
}

// Lets the kernel wake this end when a good piece of the payload is there, not at every segment.
// After every turn, whatever ended it: a mark left from an earlier payload may lie above all that
// is still to come. Not where the kernel deciphers: the mark counts bytes that it has not looked
// at, and those of a record that it has begun are gone from them.
void TcpConnection::AwaitPiece() {
  const size_t rest = in_payload_ && edges_ == 0 ? payload_.size() - payload_bytes_ : 1;
  const int wanted = static_cast<int>(std::min(rest, kPieceBytes));
  if (wanted == awaited_) return;
  awaited_ = wanted;
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof(wanted));
}

// The operations that began in what was received.
size_t TcpConnection::Received(size_t bytes) {
  if (in_payload_) {
    const size_t of_payload = std::min(bytes, payload_.size() - payload_bytes_);
    bytes -= of_payload;
    OnPayloadBytes(of_payload);
  }
  staged_bytes_ += bytes;
  size_t operations = 0;
  std::span<const std::byte> rest = std::span(staged_).first(staged_bytes_);
  while (!closed_ && !rest.empty() && (in_payload_ || rest.size() >= kPreambleBytes)) {
    if (in_payload_) {
      const auto piece = rest.first(std::min(rest.size(), payload_.size() - payload_bytes_));
      std::ranges::copy(piece, payload_.subspan(payload_bytes_).begin());
      rest = rest.subspan(piece.size());
      OnPayloadBytes(piece.size());
      continue;
    }
    ++operations;
    if (const absl::Status status = OnPreamble(rest.first<kPreambleBytes>()); !status.ok()) {
      Close(absl::Status(status.code(), absl::StrCat(rail_, ": ", std::string(status.message()))));
    }
    rest = rest.subspan(kPreambleBytes);
  }
  std::ranges::copy(rest, staged_.begin());
  staged_bytes_ = rest.size();
  return operations;
}

void TcpConnection::OnPayloadBytes(size_t bytes) {
  events_->OnArriving(payload_.subspan(payload_bytes_, bytes));
  payload_bytes_ += bytes;
  if (payload_bytes_ < payload_.size()) return;
  in_payload_ = false;
  OnPayload();
}

absl::Status TcpConnection::OnPreamble(std::span<const std::byte, kPreambleBytes> preamble) {
  const auto header = DecodeOpHeader(preamble.first<kOpHeaderBytes>());
  if (!header.has_value()) return absl::DataLossError("received bytes that are not an operation");
  op_ = *header;
  if (op_.kind == OpKind::kSend || op_.kind == OpKind::kWrite) {
    TD_ASSIGN_OR_RETURN(frame_, DecodeFrame(preamble.subspan<kOpHeaderBytes>()));
  }
  if (op_.kind == OpKind::kReadRequest) {
    TD_ASSIGN_OR_RETURN(const std::span<std::byte> origin, Exposed(RemoteAccess::kRead));
    Queue({.kind = OpKind::kReadResponse, .work = op_.work}, nullptr, origin, false);
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(payload_, PayloadTarget());
  payload_bytes_ = 0;
  in_payload_ = !payload_.empty();
  if (in_payload_) {
    allowance_.OnPayload();
  } else {
    allowance_.OnBare();
    OnPayload();
  }
  return absl::OkStatus();
}

// Where the payload of op_ belongs; an error if the peer may not put it there.
absl::StatusOr<std::span<std::byte>> TcpConnection::PayloadTarget() {
  switch (op_.kind) {
    case OpKind::kWrite:
      return Exposed(RemoteAccess::kWrite);
    case OpKind::kReadResponse: {
      const auto read = reads_.find(op_.work);
      if (read == reads_.end() || read->second.size() != op_.payload_bytes) {
        return absl::DataLossError("received an answer without a read");
      }
      return read->second;
    }
    default:
      break;
  }
  if (op_.payload_bytes == 0) return std::span<std::byte>();
  if (receives_.empty() || receives_.front().size() < op_.payload_bytes) {
    return absl::ResourceExhaustedError("received a payload that no posted receive can hold");
  }
  const std::span<std::byte> buffer = receives_.front().first(op_.payload_bytes);
  receives_.pop_front();
  return buffer;
}

absl::StatusOr<std::span<std::byte>> TcpConnection::Exposed(RemoteAccess needed) const {
  const uint64_t offset = op_.address - window_.name.address;
  if (window_.access != needed || op_.key != window_.name.key ||
      op_.address < window_.name.address || offset > window_.bytes.size() ||
      op_.payload_bytes > window_.bytes.size() - offset) {
    return absl::PermissionDeniedError(
        absl::StrCat("the peer asked for ", op_.payload_bytes, " bytes that it may not ",
                     needed == RemoteAccess::kRead ? "read" : "write"));
  }
  return window_.bytes.subspan(offset, op_.payload_bytes);
}

void TcpConnection::OnPayload() {
  if (op_.kind == OpKind::kReadResponse) {
    reads_.erase(op_.work);
    events_->OnCompleted(op_.work);
  } else {
    events_->OnFrame(frame_, op_.kind == OpKind::kSend ? payload_ : std::span<std::byte>());
  }
}

}  // namespace tapedeck::dataplane::tcp
