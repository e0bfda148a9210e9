#include "dataplane/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tapedeck::dataplane {
namespace {

constexpr std::array<uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

SocketAddress OfFamily(sa_family_t family) {
  SocketAddress address;
  address.storage.ss_family = family;
  address.bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return address;
}

// The address without its port, 4 or 16 bytes; null in one of no family.
uint8_t* IpOf(SocketAddress& address) {
  if (address.is_v6()) return reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_addr.s6_addr;
  if (address.storage.ss_family != AF_INET) return nullptr;
  return reinterpret_cast<uint8_t*>(&reinterpret_cast<sockaddr_in*>(&address.storage)->sin_addr);
}

}  // namespace

absl::string_view HostPort::bare() const {
  absl::string_view name = host;
  return absl::ConsumePrefix(&name, "[") && absl::ConsumeSuffix(&name, "]") ? name : host;
}

HostPort SplitHostPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return {.host = text, .port = {}};
  return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

std::optional<uint16_t> ParsePort(absl::string_view text) {
  uint32_t port = 0;
  const bool good = text.size() <= 5 && std::ranges::all_of(text, absl::ascii_isdigit) &&
                    absl::SimpleAtoi(text, &port) && port <= UINT16_MAX;
  return good ? std::optional(static_cast<uint16_t>(port)) : std::nullopt;
}

SocketAddress::SocketAddress(const addrinfo& from) : bytes(from.ai_addrlen) {
  std::memcpy(&storage, from.ai_addr, bytes);
}

SocketAddress::SocketAddress(const std::array<uint8_t, 16>& v6)
    : SocketAddress(
          OfFamily(std::ranges::equal(kV4Prefix, std::span(v6).first<12>()) ? AF_INET : AF_INET6)) {
  std::ranges::copy(std::span(v6).subspan(is_v6() ? 0 : kV4Prefix.size()), IpOf(*this));
}

// Both families have the port at the same place.
uint16_t SocketAddress::port() const {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

void SocketAddress::set_port(uint16_t port) {
  reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
}

std::array<uint8_t, 16> SocketAddress::v6_bytes() const {
  std::array<uint8_t, 16> out{};
  SocketAddress copy = *this;
  if (is_v6()) {
    std::copy_n(IpOf(copy), out.size(), out.begin());
  } else if (const uint8_t* const ip = IpOf(copy); ip != nullptr) {
    std::copy_n(ip, 4, std::ranges::copy(kV4Prefix, out.begin()).out);
  }
  return out;
}

std::string SocketAddress::ip() const {
  if (is_v6() &&
      IN6_IS_ADDR_V4MAPPED(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr)) {
    return SocketAddress(v6_bytes()).ip();
  }
  std::array<char, NI_MAXHOST> name{};
  return getnameinfo(get(), bytes, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST) == 0
             ? name.data()
             : "";
}

std::string SocketAddress::host() const {
  const std::string name = ip();
  return absl::StrContains(name, ':') ? absl::StrCat("[", name, "]") : name;
}

std::string SocketAddress::text() const {
  const std::string name = host();
  return name.empty() ? "unknown" : absl::StrCat(name, ":", port());
}

std::optional<SocketAddress> ParseIp(absl::string_view ip, uint16_t port) {
  SocketAddress address = OfFamily(absl::StrContains(ip, ':') ? AF_INET6 : AF_INET);
  address.set_port(port);
  const int family = address.storage.ss_family;
  // inet_pton reads up to a NUL.
  if (absl::StrContains(ip, '\0')) return std::nullopt;
  if (inet_pton(family, std::string(ip).c_str(), IpOf(address)) != 1) return std::nullopt;
  return address;
}

std::optional<SocketAddress> ParseIpAndPort(absl::string_view text) {
  const HostPort split = SplitHostPort(text);
  const std::optional<uint16_t> port = ParsePort(split.port);
  // An address of IPv6 has brackets, another none.
  if (port.value_or(0) == 0 || absl::StrContains(split.host, ':') != (split.bare() != split.host)) {
    return std::nullopt;
  }
  return ParseIp(split.bare(), *port);
}

SocketAddress LocalAddress(const Fd& socket) {
  SocketAddress address;
  return getsockname(socket.get(), address.get(), &address.bytes) == 0 ? address : SocketAddress();
}

SocketAddress PeerAddress(const Fd& socket) {
  SocketAddress address;
  return getpeername(socket.get(), address.get(), &address.bytes) == 0 ? address : SocketAddress();
}

}  // namespace tapedeck::dataplane
