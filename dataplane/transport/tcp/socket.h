// An owned socket and the few calls the room makes with it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane::tcp {

// Closes its descriptor. Any thread, one at a time.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.Release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int fd() const { return fd_; }
  int Release();

 private:
  int fd_ = -1;
};

// Numeric IPv4 or IPv6 addresses only: a rail is an address of a port, not a name. All are
// non-blocking.

// UNAVAILABLE if the address is not on this host or the port is taken; INVALID_ARGUMENT if it is no
// address.
absl::StatusOr<Socket> Listen(const std::string& address, uint16_t port);

// Starts to connect from `local` to `remote`; writable when decided, see ConnectResult.
absl::StatusOr<Socket> StartConnect(const std::string& local, const std::string& remote,
                                    uint16_t port);
absl::Status ConnectResult(const Socket& socket);

// UNAVAILABLE when nobody is waiting; RESOURCE_EXHAUSTED when somebody is, but there is no
// descriptor or memory for it.
absl::StatusOr<Socket> Accept(const Socket& listener);

uint16_t LocalPort(const Socket& socket);
std::string PeerName(const Socket& socket);

}  // namespace tapedeck::dataplane::tcp
