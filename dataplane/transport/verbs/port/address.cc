#include "dataplane/transport/verbs/port/address.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane::verbs {

absl::StatusOr<Gid> GidOf(const std::string& address) {
  const std::optional<SocketAddress> ip = ParseIp(address);
  if (ip.has_value()) return ip->v6_bytes();
  return absl::InvalidArgumentError(absl::StrCat("\"", address, "\" is not an IP address"));
}

}  // namespace tapedeck::dataplane::verbs
