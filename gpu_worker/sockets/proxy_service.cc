#include "gpu_worker/sockets/proxy_service.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

using dataplane::Fd;
using dataplane::kSecondNs;
using dataplane::Log;
using dataplane::LogLevel;

constexpr char kComponent[] = "sockets";
// A nap is this part of the quiet while, so that a kernel that is quiet for longer waits for
// longer, and the proxy wakes a few times for each doubling of it.
constexpr int64_t kQuietForANap = 8;
// Shorter ones are mostly falling asleep and waking.
constexpr int64_t kLeastNapNs = 20 * dataplane::kMicrosecondNs;
constexpr uint32_t kConnectionEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

ProxyService::ProxyService(dataplane::EventLoop& loop, Fd timer, const Net& net,
                           ProxySettings settings)
    : loop_(loop),
      timer_(std::move(timer)),
      net_(net),
      settings_(std::move(settings)),
      entries_(net.sockets) {}

absl::Status ProxyService::Start() {
  TD_RETURN_IF_ERROR(loop_.Watch(timer_.get(), EPOLLIN | EPOLLET, [this](uint32_t) { WakeUp(); }));
  StoreRelease(&net_.service->service, static_cast<uint32_t>(Service::kServing));
  active_ns_ = loop_.clock().NowNs();
  loop_.Post([this] { Turn(); });
  return absl::OkStatus();
}

void ProxyService::Stop() {
  stopped_ = true;
  loop_.Unwatch(timer_.get());
  for (uint32_t socket = 0; socket < net_.sockets; ++socket) {
    if (entries_[socket].connection != nullptr) entries_[socket].connection->Fail(ENETDOWN);
    Drop(socket);
  }
  StoreRelease(&net_.service->service, static_cast<uint32_t>(Service::kOver));
}

ProxyCounts ProxyService::counts() const {
  ProxyCounts counts = counts_;
  for (const uint32_t socket : used_) {
    counts.connections += entries_[socket].connection != nullptr;
    counts.listeners += entries_[socket].listener != nullptr;
  }
  return counts;
}

void ProxyService::Turn() {
  if (stopped_) return;
  now_ns_ = loop_.clock().NowNs();
  bool busy = TakeCommands();
  // Serving changes nothing of the list, which is swept behind it.
  for (size_t i = 0; i < used_.size(); ++i) busy = Serve(used_[i]) || busy;
  used_.erase(std::remove_if(used_.begin(), used_.end(),
                             [this](uint32_t socket) {
                               Entry& entry = entries_[socket];
                               entry.listed = entry.connection != nullptr ||
                                              entry.listener != nullptr || entry.asked != 0;
                               return !entry.listed;
                             }),
              used_.end());
  Schedule(busy);
}

void ProxyService::Schedule(bool busy) {
  if (busy) active_ns_ = now_ns_;
  const int64_t quiet_ns = now_ns_ - active_ns_;
  if (quiet_ns >= settings_.spin_ns) return Nap(quiet_ns);
  loop_.Post([this] { Turn(); });
}

// The timer is set anew for each nap, so that the one before, whatever ended it, is forgotten. The
// loop's own timers are too coarse: they have whole milliseconds.
void ProxyService::Nap(int64_t quiet_ns) {
  const int64_t nap_ns =
      std::clamp(quiet_ns / kQuietForANap, kLeastNapNs, std::max(settings_.nap_ns, kLeastNapNs));
  const itimerspec once{{}, {nap_ns / kSecondNs, nap_ns % kSecondNs}};
  napping_ = true;
  timerfd_settime(timer_.get(), 0, &once, nullptr);
}

void ProxyService::WakeUp() {
  if (!std::exchange(napping_, false)) return;
  loop_.Post([this] { Turn(); });
}

bool ProxyService::Serve(uint32_t socket) {
  bool busy = false;
  if (entries_[socket].listener != nullptr) busy = ServeListener(socket);
  if (entries_[socket].connection != nullptr) busy = ServeConnection(socket);
  if (entries_[socket].asked != 0 && now_ns_ >= entries_[socket].deadline_ns) Expire(socket);
  return busy;
}

bool ProxyService::ServeListener(uint32_t socket) {
  Listener& listener = *entries_[socket].listener;
  if (const int error = listener.Take(now_ns_); error != 0) {
    Log(LogLevel::kWarning, kComponent, "cannot accept connections; the proxy tries again",
        {{"why", std::strerror(error)}});
  }
  bool any = false;
  while (std::optional<Listener::Match> match = listener.Next()) {
    const Place peer = PeerPlace(match->fd);
    Adopt(match->socket, std::move(match->fd), /*connected=*/true);
    if (entries_[match->socket].connection == nullptr) continue;
    ++counts_.accepted;
    Answer(match->socket, 0, peer);
    any = true;
  }
  uint32_t* arrived = &net_.proxy[socket].arrived;
  if (*arrived != listener.arrived()) StoreRelease(arrived, listener.arrived());
  return any;
}

bool ProxyService::ServeConnection(uint32_t socket) {
  Entry& entry = entries_[socket];
  int error = 0;
  if (entry.connection->Decided(&error)) Connected(socket, error);
  if (entry.connection == nullptr) return true;
  const int before = entry.connection->error();
  const bool busy = entry.connection->Move();
  if (before != EPROTO && entry.connection->error() == EPROTO) {
    ++counts_.broken;
    Log(LogLevel::kWarning, kComponent, "a kernel's counters are impossible: connection ended",
        {{"socket", absl::StrCat(socket)}});
  }
  const bool closing = entry.asked != 0 && entry.command.operation == Operation::kClose;
  if (!closing || !entry.connection->sent_all()) return busy;
  error = entry.connection->error();
  Drop(socket);
  Answer(socket, error);
  return true;
}

void ProxyService::Connected(uint32_t socket, int error) {
  if (error != 0) {
    Drop(socket);
    return Answer(socket, error);
  }
  ++counts_.connected;
  Answer(socket, 0, PeerPlace(entries_[socket].connection->fd()));
}

// The command's time is over.
void ProxyService::Expire(uint32_t socket) {
  Entry& entry = entries_[socket];
  if (entry.command.operation == Operation::kAccept) {
    Listener* listener = entries_[entry.command.listener].listener.get();
    if (listener != nullptr) listener->Leave(socket);
    return Answer(socket, entry.command.timeout_ns == 0 ? EAGAIN : ETIMEDOUT);
  }
  if (entry.connection != nullptr) Reset(entry.connection->fd());
  Drop(socket);
  Answer(socket, ETIMEDOUT);
}

void ProxyService::Answer(uint32_t socket, int error, const Place& place) {
  ProxyLine& line = net_.proxy[socket];
  line.result = -error;
  line.address = place.address;
  line.port = place.port;
  StoreRelease(&line.answered, std::exchange(entries_[socket].asked, 0));
}

// The rings begin anew. Where the loop cannot watch it, the command has its answer.
void ProxyService::Adopt(uint32_t socket, Fd fd, bool connected) {
  ProxyLine& line = net_.proxy[socket];
  StoreRelease(&line.to_network.read, uint64_t{0});
  StoreRelease(&line.to_network.stop, kOpen);
  StoreRelease(&line.from_network.written, uint64_t{0});
  StoreRelease(&line.from_network.end, kOpen);
  Entry& entry = entries_[socket];
  entry.connection = std::make_unique<Connection>(net_, socket, std::move(fd), connected);
  const absl::Status watched =
      loop_.Watch(entry.connection->fd().get(), kConnectionEvents, [this, socket](uint32_t events) {
        entries_[socket].connection->Note(events);
        WakeUp();
      });
  if (watched.ok()) return;
  entry.connection = nullptr;
  Answer(socket, ENOMEM);
}

void ProxyService::Drop(uint32_t socket) {
  Entry& entry = entries_[socket];
  if (entry.listener != nullptr) DropListener(socket);
  if (entry.connection == nullptr) return;
  loop_.Unwatch(entry.connection->fd().get());
  counts_.in_bytes += entry.connection->moved().in_bytes;
  counts_.out_bytes += entry.connection->moved().out_bytes;
  entry.connection = nullptr;
}

void ProxyService::DropListener(uint32_t socket) {
  const std::unique_ptr<Listener> listener = std::move(entries_[socket].listener);
  loop_.Unwatch(listener->fd().get());
  while (const std::optional<uint32_t> waiting = listener->NextWaiting()) {
    Answer(*waiting, ECANCELED);
  }
}

}  // namespace tapedeck::gpu_worker::sockets
