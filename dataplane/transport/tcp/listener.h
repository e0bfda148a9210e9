// The listening socket of one rail. It greets whoever connects, and hands the socket to the offer
// whose token the hello names. Strangers learn nothing and are dropped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/tcp/socket.h"
#include "dataplane/transport/tcp/wire.h"

namespace tapedeck::dataplane::tcp {

// On the rail's poller.
class Listener {
 public:
  using OnConnected = std::function<void(Fd)>;

  static absl::StatusOr<std::unique_ptr<Listener>> Create(EventLoop& poller, std::string rail,
                                                          const std::string& address,
                                                          uint16_t port);
  ~Listener();

  uint16_t port() const { return LocalPort(socket_); }

  // Admits one connection with this token.
  void Expect(const Token& token, OnConnected on_connected);
  void Forget(const Token& token) { expected_.erase(token); }

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
  void DismissOldest();
  void Dismiss(int fd, const std::string& why);

  EventLoop& poller_;
  const std::string rail_;
  Fd socket_;
  std::map<Token, OnConnected> expected_;
  std::map<int, Guest> guests_;  // by descriptor
  uint64_t next_guest_ = 0;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::tcp
