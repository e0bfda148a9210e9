// Connections that the kernel encrypts (Documentation/networking/tls.rst of the kernel): both ends
// say their hellos in clear, then give the kernel the keys and go on as before. The kernel makes
// TLS records of what is sent, and gives only what has proved itself.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "dataplane/fd.h"
#include "dataplane/transport/tcp/keys.h"

namespace tapedeck::dataplane::tcp {

// Whether this kernel encrypts connections of `address`, one of this machine: tries it with a
// connection to itself, for a second at most. FAILED_PRECONDITION (RAIL_TLS_UNUSABLE) says what is
// missing and what helps.
absl::Status TryKernelTls(const std::string& rail, const std::string& address);

// From here on all that the socket sends and receives is records of these keys. What is with the
// kernel already leaves in clear; nothing that came encrypted may have been read. UNAVAILABLE if
// the peer is gone.
absl::Status Encrypt(const Fd& socket, const ConnectionKeys& keys);

bool IsEncrypted(const Fd& socket);

// What `call` says with `error`. RAIL_TLS_BROKEN where records are not what the peer has sent:
// those errors come of encrypted connections alone. `rail` names the rail and peer.
absl::Status CallFailed(const std::string& rail, absl::string_view call, int error);

}  // namespace tapedeck::dataplane::tcp
