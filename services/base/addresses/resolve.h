// The nodes that DNS has under a name: a headless service of Kubernetes, a round robin of
// addresses, or SRV records. For programs that may wait.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tapedeck::services::naming {

// Of one name more are refused.
inline constexpr size_t kMaxNodes = 16;

struct Lookup {
  absl::Duration timeout = absl::Seconds(5);
  std::optional<sockaddr_in> server;  // of SRV records; none: those of the machine
};

// The nodes of `list` (IsNodeList), each as ParseNodeName takes it, always in the same order:
// "HOST:PORT@ADDRESS" for each address of a host that has several; those of IPv4, if it has any, as
// a node with addresses of both kinds would be there twice; "HOST:PORT" for each SRV record, by
// priority, then by name, whatever the weights.
//
// INVALID_ARGUMENT (ARGUMENT_INVALID): `list` is wrong, or has more than kMaxNodes. UNAVAILABLE
// (NODE_UNREACHABLE): it has no address or record, or nobody says within `timeout`. The thread that
// asks then goes on by itself until the system's resolver gives up.
absl::StatusOr<std::vector<std::string>> NodesOf(const std::string& list,
                                                 const Lookup& lookup = {});

}  // namespace tapedeck::services::naming
