#include "gpu_worker/stages/ingest/multicast.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::ingest::udp {
namespace {

sockaddr_storage BoundTo(const dataplane::Fd& socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return address;
}

// Of the group's family; none: it is no address of that.
std::optional<sockaddr_storage> AddressOf(const std::string& text, sa_family_t family) {
  sockaddr_storage address{};
  address.ss_family = family;
  void* const bytes = family == AF_INET
                          ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr)
                          : static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr);
  if (inet_pton(family, text.c_str(), bytes) != 1) return std::nullopt;
  return address;
}

absl::Status NotJoined(int error, const Membership& membership) {
  std::string remedy;
  if (error == ENODEV) remedy = "; no route leads to the group: name an interface";
  if (error == ENOBUFS) remedy = "; raise net.ipv4.igmp_max_memberships or igmp_max_msf";
  const std::string where =
      membership.interface.empty() ? "" : absl::StrCat(" on ", membership.interface);
  return absl::UnavailableError(
      absl::StrCat("ingest: cannot join the group", where, ": ", strerror(error), remedy));
}

}  // namespace

absl::Status Join(const dataplane::Fd& socket, const Membership& membership) {
  const sockaddr_storage group = BoundTo(socket);
  if (!services::IsGroup(group)) {
    if (membership.interface.empty() && membership.from.empty()) return absl::OkStatus();
    const char* const given = membership.interface.empty() ? "from" : "interface";
    return services::ArgumentInvalid(
        given, absl::StrCat("ingest: ", given, " goes with a multicast address in udp"));
  }
  group_source_req request{.gsr_group = group};
  if (!membership.interface.empty()) {
    request.gsr_interface = if_nametoindex(membership.interface.c_str());
    if (request.gsr_interface == 0) {
      return services::ArgumentInvalid(
          "interface", absl::StrCat("ingest: no interface is called ", membership.interface,
                                    "; ip -brief address lists them"));
    }
  }
  const int level = group.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
  int failed = 0;
  if (membership.from.empty()) {
    const group_req any{.gr_interface = request.gsr_interface, .gr_group = group};
    failed = setsockopt(socket.get(), level, MCAST_JOIN_GROUP, &any, sizeof(any));
  } else {
    const auto from = AddressOf(membership.from, group.ss_family);
    if (!from.has_value()) {
      return services::ArgumentInvalid(
          "from", absl::StrCat("ingest: ", membership.from, " is no address of the group's kind"));
    }
    request.gsr_source = *from;
    failed = setsockopt(socket.get(), level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof(request));
  }
  return failed == 0 ? absl::OkStatus() : NotJoined(errno, membership);
}

}  // namespace tapedeck::gpu_worker::stages::ingest::udp
