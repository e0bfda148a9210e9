// Somebody on the path of a TCP connection: sees what the caller sends, may change a byte of it, or
// hold it back. What the listener answers passes unseen.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/fd.h"

namespace tapedeck::dataplane::tcp {

inline sockaddr_in LoopbackPort(uint16_t port) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = inet_addr("127.0.0.1");
  return address;
}

inline Fd DialLoopback(uint16_t port) {
  Fd fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = LoopbackPort(port);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// One connection, on two threads. Any thread may call.
class Relay {
 public:
  // Of the caller's bytes one bit of number `changed` is turned.
  Relay(uint16_t listener, std::optional<size_t> changed)
      : listener_(listener), changed_(changed), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = LoopbackPort(0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(socket_.get(), 1), 0);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    forward_ = std::thread([this] { Run(); });
  }
  ~Relay() {
    GoOn();
    shutdown(socket_.get(), SHUT_RDWR);
    {
      absl::MutexLock lock(&mutex_);
      for (const Fd* end : {&caller_, &callee_}) shutdown(end->get(), SHUT_RDWR);
    }
    forward_.join();
  }

  uint16_t port() const { return port_; }

  std::string Passed() {
    absl::MutexLock lock(&mutex_);
    return passed_;
  }
  size_t passed_bytes() { return Passed().size(); }

  // Lets no more than so many bytes of the caller through until GoOn.
  void HoldAfter(size_t bytes) {
    absl::MutexLock lock(&mutex_);
    most_ = bytes;
  }
  void AwaitHeld() {
    absl::MutexLock lock(&mutex_);
    const auto held = [this] { return passed_.size() >= most_; };
    EXPECT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&held), absl::Seconds(10)));
  }
  void GoOn() { HoldAfter(SIZE_MAX); }

 private:
  void Run() {
    Fd caller(accept(socket_.get(), nullptr, nullptr));
    if (caller.get() < 0) return;
    {
      absl::MutexLock lock(&mutex_);
      caller_ = std::move(caller);
      callee_ = DialLoopback(listener_);
    }
    std::thread back([this] { PassBack(); });
    PassOn();
    back.join();
  }

  // How many more bytes may pass, at least one.
  size_t Allowed(size_t wanted) {
    absl::MutexLock lock(&mutex_);
    const auto open = [this] { return passed_.size() < most_; };
    mutex_.Await(absl::Condition(&open));
    return std::min(wanted, most_ - passed_.size());
  }

  void PassOn() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = recv(caller_.get(), bytes.data(), bytes.size(), 0)) > 0) {
      for (size_t at = 0; at < static_cast<size_t>(got);) {
        const size_t n = Allowed(static_cast<size_t>(got) - at);
        absl::MutexLock lock(&mutex_);
        if (changed_.has_value() && *changed_ >= passed_.size() && *changed_ - passed_.size() < n) {
          bytes[at + *changed_ - passed_.size()] ^= 1;
        }
        passed_.append(bytes.data() + at, n);
        if (send(callee_.get(), bytes.data() + at, n, MSG_NOSIGNAL) < 0) break;
        at += n;
      }
    }
    shutdown(callee_.get(), SHUT_RDWR);
  }

  void PassBack() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = recv(callee_.get(), bytes.data(), bytes.size(), 0)) > 0) {
      if (send(caller_.get(), bytes.data(), static_cast<size_t>(got), MSG_NOSIGNAL) < 0) break;
    }
    shutdown(caller_.get(), SHUT_RDWR);
  }

  const uint16_t listener_;
  const std::optional<size_t> changed_;
  Fd socket_;
  Fd caller_;
  Fd callee_;
  uint16_t port_ = 0;
  absl::Mutex mutex_;
  std::string passed_;
  size_t most_ = SIZE_MAX;
  std::thread forward_;
};

}  // namespace tapedeck::dataplane::tcp
