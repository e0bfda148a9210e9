// The transports of this build: the one place that knows them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/rail_spec.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

// The threads of one rail, at least one. A kind whose connections share one uses the first alone.
using Pollers = std::vector<EventLoop*>;

struct TransportKind {
  std::string kind;
  std::string loopback_address;  // an address at which two ends in one process can meet
  // OK, or why this kind cannot be used on this machine.
  std::function<absl::Status()> usable;
  std::function<absl::StatusOr<std::unique_ptr<Transport>>(const RailSpec&, const Pollers&)> create;
};

// Transports created from the entries of one returned list can reach each other.
std::vector<TransportKind> TransportKinds();

// Whether `text` is NAME=KIND:ADDRESS[:PORT] of a kind that is in the list, or `auto`.
// INVALID_ARGUMENT names the kinds there are.
absl::Status CheckRail(const std::string& text);

// The same of all rails of a node: there is one, and no two have the same name.
absl::Status CheckRails(const std::vector<std::string>& texts);

// Whether a rail of its kind could be created here; opens nothing that stays. The same errors as
// CreateTransport has before it makes a socket.
absl::Status CheckUsable(const RailSpec& spec);

// Creates the rail from the list; `auto` takes verbs if the address belongs to an RDMA port and
// nothing is to be encrypted, else tcp, and says so in the log. INVALID_ARGUMENT names the kinds
// there are; FAILED_PRECONDITION (RAIL_TLS_UNUSABLE) where the rail cannot encrypt.
absl::StatusOr<std::unique_ptr<Transport>> CreateTransport(const RailSpec& spec,
                                                           const Pollers& pollers);

}  // namespace tapedeck::dataplane
