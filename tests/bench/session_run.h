// One session of a bench, through the product's own ClientSession, with a source and sink that cost
// nothing (ends.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/rail_set.h"
#include "services/rpc/client/calls/channel.h"
#include "services/session/opening/client_session.h"
#include "tests/bench/checks.h"

namespace tapedeck::bench {

struct SessionRun {
  services::session::Direction direction;
  std::string target;   // channel to record into, or recording to play
  uint64_t blocks = 0;  // to record
  uint64_t block_bytes = 0;
  uint32_t slots = 64;
  std::optional<dataplane::TransferOp> op;  // else the channel's
  Checks crc = Checks::kEach;
  uint32_t connections_per_rail = 1;
  std::map<std::string, std::string> labels;
  // Recording: the session stays open so long, or until SIGINT, then ends in order.
  absl::Duration hold;
};

struct SessionOutcome {
  services::session::Snapshot snapshot;
  int64_t open_to_first_block_ns = 0;
  int64_t longest_gap_ns = 0;  // between two blocks at this end
};

// Blocks until the session has ended.
absl::StatusOr<SessionOutcome> RunSession(const SessionRun& run,
                                          const services::client::Channel& node,
                                          dataplane::RailSet& rails, dataplane::EventLoop& loop);

}  // namespace tapedeck::bench
