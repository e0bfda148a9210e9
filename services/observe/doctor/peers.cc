// Whether the other node's rails can be reached from those here: by a TCP connection that is closed
// again, or for RDMA, which has no listener, by whether there is a way at all.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/fd.h"
#include "dataplane/now.h"
#include "dataplane/socket_address.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

// Far more than any network of rails needs.
constexpr absl::Duration kConnectPatience = absl::Seconds(3);
constexpr uint16_t kRocePort = 4791;

using dataplane::SocketAddress;

struct Attempt {
  const PeerRail* peer = nullptr;
  std::string from;
  dataplane::Fd socket;
  int error = 0;
  bool ended = false;
};

// Begins to connect from the rail's own address.
Attempt Begin(const NodeRail& rail, const PeerRail& peer) {
  const bool tcp = peer.transport == "tcp";
  Attempt attempt{.peer = &peer, .from = rail.rail.address};
  const auto own = dataplane::ParseIp(rail.rail.address);
  const SocketAddress other =
      dataplane::ParseIp(peer.address, tcp ? peer.port : kRocePort).value_or(SocketAddress());
  attempt.socket = dataplane::Fd(socket(
      other.storage.ss_family, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int fd = attempt.socket.get();
  // An own address that has gone is a finding of its own.
  attempt.ended = fd < 0 || !own.has_value() || bind(fd, own->get(), own->bytes) != 0;
  if (attempt.ended) return attempt;
  attempt.error = connect(fd, other.get(), other.bytes) == 0 ? 0 : errno;
  attempt.ended = attempt.error != EINPROGRESS;
  return attempt;
}

void AwaitAll(std::vector<Attempt>& attempts) {
  const absl::Time deadline = dataplane::SteadyTime() + kConnectPatience;
  for (Attempt& attempt : attempts) {
    if (attempt.ended) continue;
    pollfd waiting{.fd = attempt.socket.get(), .events = POLLOUT, .revents = 0};
    const absl::Duration left = std::max(deadline - dataplane::SteadyTime(), absl::ZeroDuration());
    if (poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) <= 0) {
      attempt.error = ETIMEDOUT;
      continue;
    }
    socklen_t bytes = sizeof(attempt.error);
    getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &attempt.error, &bytes);
  }
}

}  // namespace

void CheckPeers(const Scene& scene, const Request& request, Findings& findings) {
  std::vector<Attempt> attempts;
  for (const PeerRail& peer : request.peers) {
    for (const NodeRail& rail : scene.rails) {
      const bool same = rail.rail.name == peer.name && rail.rail.transport == peer.transport;
      const bool known = peer.transport == "verbs" || (peer.transport == "tcp" && peer.port != 0);
      if (same && known) attempts.push_back(Begin(rail, peer));
    }
  }
  AwaitAll(attempts);
  for (const Attempt& attempt : attempts) {
    if (attempt.error == 0) continue;
    Finding finding = Found(
        "RAIL_UNREACHABLE",
        absl::StrCat("rail ", attempt.peer->name, ": ", attempt.peer->address,
                     attempt.peer->port == 0 ? "" : absl::StrCat(":", attempt.peer->port),
                     " is not reached from ", attempt.from, ": ", std::strerror(attempt.error)));
    finding.fix = absl::StrCat("check address, route and firewall: ping -I ", attempt.from, " ",
                               attempt.peer->address);
    findings.push_back(std::move(finding));
  }
}

}  // namespace tapedeck::services::doctor
