// One connection of the proxy: moves bytes between a socket's rings and TCP, each way by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "dataplane/fd.h"
#include "gpu_worker/sockets/layout.h"
#include "gpu_worker/sockets/stream.h"

namespace tapedeck::gpu_worker::sockets {

// On the proxy's thread.
class Connection {
 public:
  // The rings of `socket` are empty. `connected`: else it waits for StartConnect.
  Connection(const Net& net, uint32_t socket, dataplane::Fd fd, bool connected);

  const dataplane::Fd& fd() const { return fd_; }
  bool connected() const { return connected_; }

  // What epoll says, edge by edge.
  void Note(uint32_t epoll_events);

  // Whether it is decided what became of StartConnect: `error` is then 0 or an errno. Once.
  bool Decided(int* error);

  // Moves what can be moved now; whether anything was.
  bool Move();

  // All that the kernel has committed is sent, or cannot be: what a close waits for.
  bool sent_all() const { return out_over_; }

  // The errno that ended it, 0 if none has.
  int error() const { return error_; }

  // Ends both ways with `error`; the peer sees a reset.
  void Fail(int error);

  struct Moved {
    uint64_t in_bytes = 0;
    uint64_t out_bytes = 0;
  };
  const Moved& moved() const { return moved_; }

 private:
  bool MoveOut();
  bool MoveIn();
  void EndOut(int error);
  void EndIn(int32_t why);

  const dataplane::Fd fd_;
  const Ring out_ring_;
  const Ring in_ring_;
  ReaderPlace out_;
  WriterPlace in_;
  Moved moved_;
  bool connected_;
  bool decidable_ = false;  // epoll has spoken since StartConnect
  bool readable_ = true;    // until recvmsg says otherwise
  bool writable_ = true;    // until sendmsg does
  bool hung_up_ = false;    // the stream's end is behind what is there: read on until it comes
  bool out_over_ = false;
  bool in_over_ = false;
  int error_ = 0;
};

// A socket of the proxy that listens: the connections that have come and wait for a kernel, and the
// kernels' sockets that wait for a connection. On the proxy's thread.
class Listener {
 public:
  // Connections that are held before a kernel takes them. The others wait in the system's own
  // queue, which is bounded, too.
  static constexpr size_t kMostArrived = 64;

  explicit Listener(dataplane::Fd fd) : fd_(std::move(fd)) {}

  const dataplane::Fd& fd() const { return fd_; }

  // What epoll says.
  void Note() { readable_ = true; }

  // Takes what has come. Where there is no descriptor left for it, again after a while: the errno.
  int Take(int64_t now_ns);

  void Wait(uint32_t socket) { waiting_.push_back(socket); }
  void Leave(uint32_t socket);

  // A connection for the socket that has waited longest.
  struct Match {
    uint32_t socket;
    dataplane::Fd fd;
  };
  std::optional<Match> Next();

  // A socket that will get none any more.
  std::optional<uint32_t> NextWaiting();

  uint32_t arrived() const { return static_cast<uint32_t>(arrived_.size()); }

 private:
  const dataplane::Fd fd_;
  std::deque<dataplane::Fd> arrived_;
  std::deque<uint32_t> waiting_;  // each socket of the table once at most
  bool readable_ = true;
  int64_t retry_ns_ = 0;
};

}  // namespace tapedeck::gpu_worker::sockets
