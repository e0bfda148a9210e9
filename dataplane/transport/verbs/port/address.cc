#include "dataplane/transport/verbs/port/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane::verbs {
namespace {

constexpr std::array<uint8_t, 12> kIpv4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

absl::StatusOr<Gid> GidOf(const std::string& address) {
  Gid gid{};
  if (inet_pton(AF_INET, address.c_str(), gid.data() + kIpv4Prefix.size()) == 1) {
    std::ranges::copy(kIpv4Prefix, gid.begin());
  } else if (inet_pton(AF_INET6, address.c_str(), gid.data()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", address, "\" is not an IP address"));
  }
  return gid;
}

bool IsIpv4(const Gid& gid) {
  return std::equal(kIpv4Prefix.begin(), kIpv4Prefix.end(), gid.begin());
}

std::string AddressOf(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (IsIpv4(gid)) {
    inet_ntop(AF_INET, gid.data() + kIpv4Prefix.size(), text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, gid.data(), text, sizeof(text));
  }
  return text;
}

sockaddr_storage SocketAddressOf(const Gid& gid) {
  sockaddr_storage storage{};
  if (IsIpv4(gid)) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    std::memcpy(&v4->sin_addr, gid.data() + kIpv4Prefix.size(), sizeof(v4->sin_addr));
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    std::memcpy(&v6->sin6_addr, gid.data(), gid.size());
  }
  return storage;
}

}  // namespace tapedeck::dataplane::verbs
