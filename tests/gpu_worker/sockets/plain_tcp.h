// An ordinary program's TCP over loopback, with calls that wait at most 20 s.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "dataplane/fd.h"

namespace tapedeck::gpu_worker::sockets {

using dataplane::Fd;

inline sockaddr_in LoopbackName(uint32_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(static_cast<uint16_t>(port));
  return name;
}

inline void LimitWaits(const Fd& fd) {
  const timeval limit{20, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

inline Fd PlainConnect(uint32_t port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  LimitWaits(fd);
  const sockaddr_in name = LoopbackName(port);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0)
      << strerror(errno);
  return fd;
}

// On a port that the system chooses.
inline Fd PlainListen(uint32_t* port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  LimitWaits(fd);
  sockaddr_in name = LoopbackName(0);
  socklen_t length = sizeof(name);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(listen(fd.get(), 64), 0);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &length);
  *port = ntohs(name.sin_port);
  return fd;
}

inline Fd PlainAccept(const Fd& listener) {
  Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  LimitWaits(fd);
  return fd;
}

inline bool PlainSend(const Fd& fd, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t now = send(fd.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += now;
  }
  return true;
}

// Up to `bytes` bytes: fewer where the stream ends or breaks off before; `error` is then its errno.
inline std::string PlainReceive(const Fd& fd, size_t bytes, int* error = nullptr) {
  std::string out(bytes, '\0');
  size_t got = 0;
  while (got < bytes) {
    const ssize_t now = recv(fd.get(), out.data() + got, bytes - got, 0);
    if (now < 0 && error != nullptr) *error = errno;
    if (now <= 0) break;
    got += now;
  }
  out.resize(got);
  return out;
}

// The peer sees ECONNRESET.
inline void PlainReset(Fd fd) {
  const linger at_once{1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

inline std::string RandomBytes(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out(bytes, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

}  // namespace tapedeck::gpu_worker::sockets
