// What the proxy's thread does: commands, connections, deadlines, turn by turn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/fd.h"
#include "gpu_worker/sockets/connection.h"
#include "gpu_worker/sockets/proxy.h"

namespace tapedeck::gpu_worker::sockets {

// On the loop's thread, but for its construction and its end, when the loop runs nothing of it.
class ProxyService {
 public:
  // `timer` is a timerfd, which does not block.
  ProxyService(dataplane::EventLoop& loop, dataplane::Fd timer, const Net& net,
               ProxySettings settings);

  // An error where the loop cannot watch the timer.
  absl::Status Start();
  // Nothing happens from then on.
  void Stop();
  ProxyCounts counts() const;

 private:
  // What the proxy has for a socket of the table.
  struct Entry {
    uint64_t taken = 0;  // number of the last command
    uint64_t asked = 0;  // of the one that is not answered yet; 0: none
    Command command{};   // that one
    int64_t deadline_ns = 0;
    std::unique_ptr<Connection> connection;
    std::unique_ptr<Listener> listener;
    bool listed = false;  // is in used_
  };

  void Turn();
  void Schedule(bool busy);
  void Nap(int64_t quiet_ns);
  void WakeUp();

  bool TakeCommands();
  void TakeCommand(uint32_t socket, uint64_t number);
  void Do(uint32_t socket);
  void DoListen(uint32_t socket);
  void DoAccept(uint32_t socket);
  void DoConnect(uint32_t socket);
  void DoClose(uint32_t socket);

  bool Serve(uint32_t socket);
  bool ServeListener(uint32_t socket);
  bool ServeConnection(uint32_t socket);
  void Connected(uint32_t socket, int error);
  void Expire(uint32_t socket);

  void Answer(uint32_t socket, int error, const Place& place = {});
  void Adopt(uint32_t socket, dataplane::Fd fd, bool connected);
  // Whatever the socket had is gone.
  void Drop(uint32_t socket);
  void DropListener(uint32_t socket);
  bool IsAllowed(const std::vector<Endpoints>& list, const Command& command, const char* what);

  dataplane::EventLoop& loop_;
  const dataplane::Fd timer_;
  const Net net_;
  const ProxySettings settings_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> used_;  // sockets that have anything
  ProxyCounts counts_;
  int64_t now_ns_ = 0;     // of this turn
  int64_t active_ns_ = 0;  // when something happened last
  bool napping_ = false;
  bool stopped_ = false;
};

}  // namespace tapedeck::gpu_worker::sockets
