#include "gpu_worker/sockets/connection.h"

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

namespace tapedeck::gpu_worker::sockets {
namespace {

TwoPieces PiecesOf(const Ring& ring, uint64_t position, uint64_t bytes) {
  const Piece first = PieceAt(ring.capacity, position, bytes);
  return {ring.bytes + first.at, first.bytes, ring.bytes, bytes - first.bytes};
}

}  // namespace

Connection::Connection(const Net& net, uint32_t socket, dataplane::Fd fd, bool connected)
    : fd_(std::move(fd)),
      out_ring_(RingToNetwork(net, socket)),
      in_ring_(RingFromNetwork(net, socket)),
      connected_(connected) {}

void Connection::Note(uint32_t epoll_events) {
  decidable_ = true;
  const bool trouble = (epoll_events & (EPOLLERR | EPOLLHUP)) != 0;
  if ((epoll_events & EPOLLRDHUP) != 0 || trouble) hung_up_ = true;
  if ((epoll_events & EPOLLIN) != 0 || hung_up_) readable_ = true;
  if ((epoll_events & EPOLLOUT) != 0 || trouble) writable_ = true;
}

bool Connection::Decided(int* error) {
  if (connected_ || !decidable_) return false;
  *error = ConnectError(fd_);
  // Woken for something else.
  decidable_ = *error != 0 || PeerPlace(fd_).port != 0;
  if (!decidable_) return false;
  connected_ = *error == 0;
  return true;
}

bool Connection::Move() {
  if (!connected_) return false;
  const bool out = MoveOut();
  const bool in = MoveIn();
  return out || in;
}

bool Connection::MoveOut() {
  if (out_over_ || !writable_) return false;
  const int64_t available = Available(out_ring_, out_);
  if (available == -EAGAIN) return false;
  if (available == 0) {
    EndOut(EndSending(fd_));
    return true;
  }
  if (available < 0) {
    Fail(static_cast<int>(-available));
    return true;
  }
  const int64_t sent = Send(fd_, PiecesOf(out_ring_, out_.read, available));
  if (sent == -EAGAIN) {
    writable_ = false;
    return false;
  }
  if (sent < 0) {
    EndOut(static_cast<int>(-sent));
    return true;
  }
  Release(out_ring_, out_, sent);
  moved_.out_bytes += sent;
  return true;
}

bool Connection::MoveIn() {
  if (in_over_ || !readable_) return false;
  const int64_t room = Room(in_ring_, in_);
  if (room == 0) return false;
  if (room == -EPROTO) {
    Fail(EPROTO);
    return true;
  }
  if (room < 0) {  // the kernel takes no more: it closes
    in_over_ = true;
    return true;
  }
  const int64_t got = Receive(fd_, PiecesOf(in_ring_, in_.written, room));
  if (got == -EAGAIN) {
    readable_ = false;
    return false;
  }
  if (got <= 0) {
    EndIn(got == 0 ? kEnded : static_cast<int32_t>(-got));
    return true;
  }
  // A ring that is not full holds all there was, so that another call would say EAGAIN.
  if (got < room && !hung_up_) readable_ = false;
  Commit(in_ring_, in_, got);
  moved_.in_bytes += got;
  return true;
}

void Connection::EndOut(int error) {
  out_over_ = true;
  if (error == 0) return;
  if (error_ == 0) error_ = error;
  Stop(out_ring_, error);
}

void Connection::EndIn(int32_t why) {
  in_over_ = true;
  if (why > 0 && error_ == 0) error_ = why;
  End(in_ring_, why);
  // After a reset nothing can be sent, either; a write would say so only the second time.
  if (why > 0 && !out_over_) EndOut(why);
}

void Connection::Fail(int error) {
  if (!out_over_) EndOut(error);
  if (!in_over_) EndIn(error);
  if (error_ == 0) error_ = error;
  Reset(fd_);
}

}  // namespace tapedeck::gpu_worker::sockets
