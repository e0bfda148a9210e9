// Sockets, and the few calls the room makes with them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::dataplane::tcp {

// Numeric IPv4 or IPv6 addresses only: a rail is an address of a port, not a name. All are
// non-blocking.

// UNAVAILABLE if the address is not on this host or the port is taken; INVALID_ARGUMENT if it is no
// address.
absl::StatusOr<Fd> Listen(const std::string& address, uint16_t port);

// Whether Listen could have `address`, at any port: the same errors. Listens nowhere.
absl::Status TryBind(const std::string& address);

// Starts to connect from `local` to `remote`; writable when decided, see ConnectResult.
absl::StatusOr<Fd> StartConnect(const std::string& local, const std::string& remote, uint16_t port);
absl::Status ConnectResult(const Fd& socket);

// UNAVAILABLE when nobody is waiting; RESOURCE_EXHAUSTED when somebody is, but there is no
// descriptor or memory for it.
absl::StatusOr<Fd> Accept(const Fd& listener);

}  // namespace tapedeck::dataplane::tcp
