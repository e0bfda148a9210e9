// IP addresses as GIDs: a RoCEv2 GID is the port's IP address, IPv4 mapped into IPv6.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/socket_address.h"

namespace tapedeck::dataplane::verbs {

using Gid = std::array<uint8_t, 16>;

// INVALID_ARGUMENT if `address` is no numeric IPv4 or IPv6 address.
inline absl::StatusOr<Gid> GidOf(const std::string& address) {
  const std::optional<SocketAddress> ip = ParseIp(address);
  if (ip.has_value()) return ip->v6_bytes();
  return absl::InvalidArgumentError(absl::StrCat("\"", address, "\" is not an IP address"));
}

inline Gid GidOf(const ibv_gid& raw) {
  Gid gid;
  for (size_t i = 0; i < gid.size(); ++i) gid[i] = raw.raw[i];
  return gid;
}

}  // namespace tapedeck::dataplane::verbs
