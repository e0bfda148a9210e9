// The rails of a node: each a transport with a poller thread of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane {

// How a node uses its rails.
struct RailUse {
  bool listen = false;  // peers connect to them
  bool tls = false;     // their connections are encrypted
};

// Owned by main; outlives every session.
class RailSet {
 public:
  // `texts` are as ParseRailSpec has them. INVALID_ARGUMENT for two rails of one name, UNAVAILABLE
  // for an interface that is not there or has no address, FAILED_PRECONDITION (RAIL_TLS_UNUSABLE)
  // for a rail that cannot encrypt.
  static absl::StatusOr<std::unique_ptr<RailSet>> Create(const std::vector<std::string>& texts,
                                                         RailUse use);

  std::vector<Transport*> transports() const;

  // The pollers, one for each rail.
  std::vector<Executor*> executors() const;

 private:
  RailSet() = default;

  std::vector<std::unique_ptr<EventLoop>> pollers_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace tapedeck::dataplane
