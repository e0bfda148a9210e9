// The listening socket of one rail. It greets each caller, and hands the socket to the offer whose
// token the hello names. Strangers learn nothing, and the listener drops them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/socket_address.h"
#include "dataplane/transport/tcp/socket.h"
#include "dataplane/transport/tcp/wire.h"

namespace tapedeck::dataplane::tcp {

// On the rail's first poller, except for Expect and Forget.
class Listener {
 public:
  using OnConnected = std::function<void(Fd)>;

  static absl::StatusOr<std::unique_ptr<Listener>> Create(EventLoop& poller, std::string rail,
                                                          const std::string& address,
                                                          uint16_t port);
  ~Listener();

  uint16_t port() const { return LocalAddress(socket_).port(); }

  // Admits one connection with this token, from when this returns on; `on_connected` is called on
  // the first poller. Any thread.
  void Expect(const Token& token, OnConnected on_connected) ABSL_LOCKS_EXCLUDED(mutex_);
  // Any thread. A call that has begun goes on.
  void Forget(const Token& token) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A connection that has not proved itself yet.
  struct Guest {
    Fd socket;
    HelloBytes hello;
    size_t bytes = 0;
    uint64_t id = 0;
  };

  Listener(EventLoop& poller, std::string rail, Fd socket)
      : poller_(poller), rail_(std::move(rail)), socket_(std::move(socket)) {}
  absl::Status Watch();
  void AcceptAll();
  void Admit(Fd socket);
  // Accepts nobody for a while: the socket stays readable, and the poller would run in circles.
  void Rest(const absl::Status& why);
  void Receive(int fd);
  void Greet(Guest& guest);
  OnConnected TakeExpected(const Token& token) ABSL_LOCKS_EXCLUDED(mutex_);
  void DismissOldest();
  void Dismiss(int fd, const std::string& why);

  EventLoop& poller_;
  const std::string rail_;
  Fd socket_;
  absl::Mutex mutex_;
  std::map<Token, OnConnected> expected_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Guest> guests_;  // by descriptor
  uint64_t next_guest_ = 0;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::tcp
