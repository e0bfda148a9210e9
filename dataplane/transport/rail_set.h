// The rails of a node: each a transport with poller threads of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane {

// A session has at most so many connections of a rail; more pollers of one would only help many
// sessions at once.
inline constexpr size_t kMaxPollers = 8;

// Pollers of each of `rails` rails of a process that may use so many processors: one to each
// processor between them, as more would only take turns there. Never one for two rails: where
// processors are fewer, or others use them, a shared one is no faster (tests/bench/README.md).
constexpr size_t PollersPerRail(size_t rails, size_t processors) {
  return std::clamp<size_t>(processors / std::max<size_t>(rails, 1), 1, kMaxPollers);
}

// How a node uses its rails.
struct RailUse {
  bool listen = false;           // peers connect to them
  bool tls = false;              // their connections are encrypted
  PeerCopies* copies = nullptr;  // for rails of kind ipc; outlives them. Null: none can be
};

// Owned by main; outlives every session.
class RailSet {
 public:
  // What Create would refuse before it opens a socket, of each rail. Opens nothing.
  static std::vector<absl::Status> Look(const std::vector<std::string>& texts, const RailUse& use);

  // `texts` are as ParseRailSpec has them. INVALID_ARGUMENT for two rails of one name, UNAVAILABLE
  // for an interface that is not there or has no address, FAILED_PRECONDITION (RAIL_TLS_UNUSABLE)
  // for a rail that cannot encrypt.
  static absl::StatusOr<std::unique_ptr<RailSet>> Create(const std::vector<std::string>& texts,
                                                         RailUse use);

  std::vector<Transport*> transports() const;

  // The pollers, of all rails.
  std::vector<Executor*> executors() const;

 private:
  RailSet() = default;

  // With its address, and as the node uses it.
  static absl::StatusOr<RailSpec> SpecOf(const std::string& text, const RailUse& use);

  // Adds a rail with its pollers.
  absl::Status Add(const RailSpec& spec, size_t pollers);

  std::vector<std::unique_ptr<EventLoop>> pollers_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace tapedeck::dataplane
