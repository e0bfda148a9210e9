// Groups of multicast, which a receiver has to join: RFC 3376 (IGMPv3), RFC 3810 (MLDv2), and the
// calls of RFC 3678, which are the same for IPv4 and IPv6.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "dataplane/fd.h"

namespace tapedeck::gpu_worker::stages::ingest::udp {

struct Membership {
  std::string interface;  // its name; empty: the one that the kernel's routes name
  std::string from;       // the only sender, an address; empty: whoever sends to the group
};

// Joins the group that the socket of ListenForDatagrams is bound to, where it is one.
// INVALID_ARGUMENT (ARGUMENT_INVALID): an interface or a sender where there is no group, or one
// that does not exist; UNAVAILABLE says why the kernel does not join, and what to do.
absl::Status Join(const dataplane::Fd& socket, const Membership& membership);

}  // namespace tapedeck::gpu_worker::stages::ingest::udp
