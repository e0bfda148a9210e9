// A socket of the proxy that listens: the connections that have come and wait for a kernel, and the
// kernels' sockets that wait for a connection.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "dataplane/fd.h"

namespace tapedeck::gpu_worker::sockets {

// On the proxy's thread.
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
