// The transports of this build: the one place that knows them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

// From the command line: NAME=KIND:ADDRESS[:PORT], e.g. r0=tcp:127.0.0.1. PORT is the listener's on
// a storage node; 0 or absent lets the system choose.
struct RailSpec {
  std::string name;
  std::string kind;
  std::string address;
  uint16_t port = 0;
  // Whether peers connect to this rail (storage node) or it connects to them (worker). Set by the
  // program.
  bool listen = false;
};

// As long as the name of a rail may be in a session's messages.
inline constexpr size_t kMaxRailNameBytes = 63;

absl::StatusOr<RailSpec> ParseRailSpec(const std::string& text);

struct TransportKind {
  std::string kind;
  std::string loopback_address;  // an address at which two ends in one process can meet
  // OK, or why this kind cannot be used on this machine.
  std::function<absl::Status()> usable;
  std::function<absl::StatusOr<std::unique_ptr<Transport>>(const RailSpec&, EventLoop&)> create;
};

// Transports created from the entries of one returned list can reach each other.
std::vector<TransportKind> TransportKinds();

// Creates the rail from the list; `auto` takes verbs if the address belongs to an RDMA port, else
// tcp, and says so in the log. INVALID_ARGUMENT names the kinds there are.
absl::StatusOr<std::unique_ptr<Transport>> CreateTransport(const RailSpec& spec, EventLoop& poller);

}  // namespace tapedeck::dataplane
