// What DNS says of a service: its SRV records (RFC 2782). A name server's answer is checked here,
// byte for byte, as anybody's message is.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tapedeck::services::naming {

struct ServiceRecord {
  uint16_t priority = 0;
  uint16_t port = 0;
  std::string host;  // a name of DNS, as ParseNodeName takes it
};

// Of an answer more are not read.
inline constexpr size_t kMaxServiceRecords = 256;

// The SRV records of a message as it came. INVALID_ARGUMENT: it is none, one of its records is cut
// or names no host, or there are too many of them. Any thread.
absl::StatusOr<std::vector<ServiceRecord>> ParseServiceRecords(absl::Span<const uint8_t> message);

// Asks the machine's name servers, or `server`, and waits: of each a second or two, some seconds in
// all. NOT_FOUND: nobody has such a name, or it has no such records. UNAVAILABLE: no server says.
absl::StatusOr<std::vector<ServiceRecord>> AskForService(const std::string& name,
                                                         const std::optional<sockaddr_in>& server);

}  // namespace tapedeck::services::naming
