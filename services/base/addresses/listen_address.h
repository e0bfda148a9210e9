// The address that a server listens at, HOST:PORT: checked, listened at, and told why it cannot be.
// gRPC would take port 99999 for another one, and not say why it could not listen.
#pragma once

#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::services {

// INVALID_ARGUMENT unless `listen` is HOST:PORT with a port from 0 to 65535.
absl::Status CheckListenAddress(const std::string& listen);

// Whether nobody but this machine reaches it: every address that the host stands for is one of
// 127.0.0.0/8 or ::1. Asks the resolver, which may wait.
bool IsLoopback(const std::string& listen);

// Whether it is a group of multicast, of either kind.
bool IsGroup(const sockaddr_storage& address);

// A socket that does not block and listens at `listen`; port 0 lets the system choose. UNAVAILABLE
// names the address, why it cannot be used, and what to do.
absl::StatusOr<dataplane::Fd> Listen(const std::string& listen);

// A socket that does not block and receives the datagrams that come to `listen`; the same errors.
// Other sockets may have the port of a group of multicast, too. Each has what comes to the
// interfaces and from the senders for which it has joined; nothing before it has.
absl::StatusOr<dataplane::Fd> ListenForDatagrams(const std::string& listen);

// The port of a server that is not ready yet: nobody else gets it, and nobody can connect. A node
// reserves it before its rails let the system choose theirs.
class ReservedPort {
 public:
  // At every address that the host of `listen` stands for, one at least, all with the same port.
  // 0.0.0.0 and [::] are all addresses of either kind. The errors of Listen.
  static absl::StatusOr<ReservedPort> Create(const std::string& listen);

  // Sockets that do not block and listen; the same errors. Once.
  absl::StatusOr<std::vector<dataplane::Fd>> Listen();

 private:
  ReservedPort(std::string listen, std::vector<dataplane::Fd> sockets)
      : listen_(std::move(listen)), sockets_(std::move(sockets)) {}

  std::string listen_;
  std::vector<dataplane::Fd> sockets_;
};

}  // namespace tapedeck::services
