#include <algorithm>
#include <cerrno>

#include "dataplane/clock.h"
#include "gpu_worker/sockets/connection.h"
#include "gpu_worker/sockets/stream.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

// A process that has no descriptors left has some again once others are closed.
constexpr int64_t kRetryNs = 100 * dataplane::kMillisecondNs;

}  // namespace

int Listener::Take(int64_t now_ns) {
  if (now_ns < retry_ns_) return 0;
  while (readable_ && arrived_.size() < kMostArrived) {
    Opened opened = AcceptFrom(fd_);
    if (opened.error == 0) {
      arrived_.push_back(std::move(opened.fd));
    } else if (opened.error == EAGAIN) {
      readable_ = false;
    } else if (opened.error != ECONNABORTED && opened.error != EINTR) {
      retry_ns_ = now_ns + kRetryNs;
      return opened.error;
    }
  }
  return 0;
}

void Listener::Leave(uint32_t socket) {
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), socket), waiting_.end());
}

std::optional<Listener::Match> Listener::Next() {
  if (arrived_.empty() || waiting_.empty()) return std::nullopt;
  Match match{waiting_.front(), std::move(arrived_.front())};
  waiting_.pop_front();
  arrived_.pop_front();
  return match;
}

std::optional<uint32_t> Listener::NextWaiting() {
  if (waiting_.empty()) return std::nullopt;
  const uint32_t socket = waiting_.front();
  waiting_.pop_front();
  return socket;
}

}  // namespace tapedeck::gpu_worker::sockets
