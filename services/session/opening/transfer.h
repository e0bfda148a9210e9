// A running transfer as a worker sees it: one session, or several after or beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/transfer/counters.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::services::session {

// Where a transfer stands; the last one given is the result.
struct Snapshot {
  bool running = false;   // blocks are moving
  bool resuming = false;  // the session was lost, and another one is tried
  bool ended = false;
  absl::Status error;                  // with its reason
  absl::Status loss;                   // while it is resuming: why, by the last try
  std::optional<double> memory_ready;  // before the node has answered: 0 to 1; none: not known
  std::vector<std::string> captures;   // of a triggered channel: the newest recordings
  Accept accept;                       // empty until the node has answered
  uint64_t blocks = 0;                 // at the commit level (record), consumed (playback)
  uint64_t bytes = 0;
  uint64_t total_blocks = 0;     // 0: unknown
  uint64_t lost_blocks = 0;      // of the total, once it has ended
  dataplane::Counters counters;  // of both ends
  uint64_t heard = 0;            // messages of the node on the control stream of this session
  int64_t elapsed_ns = 0;        // since blocks could move
  int64_t setup_ns = 0;          // from Start to that moment
  std::vector<RailProgress> rails;
  StageTimes stage_times;  // of both ends
};

// On one executor.
class Transfer {
 public:
  // On the executor, at every change of state and every 100 ms. The last has `ended`; after it, and
  // only outside the call, the transfer may be destroyed.
  using OnChange = std::function<void(const Snapshot&)>;

  virtual ~Transfer() = default;

  // Once.
  virtual void Start(OnChange on_change) = 0;
  // Ends in order: a recording is sealed with what has been taken from the source; a playback
  // stops.
  virtual void Stop() = 0;
  // Before or after Start. The source of a recording will end by itself, before it should; the
  // recording says why. Changes nothing of a playback.
  virtual void EndsEarly(const std::string& why) = 0;
};

// One session after the other, or each to a node of its own.
enum class Together { kAfter, kBeside };

// Adds counters, times, rails and stage times. The times of sessions that are beside each other are
// the longest; a rail of theirs is up if it is for one of them.
void AddWork(const Snapshot& more, Together how, Snapshot* sum);

// Of sessions beside each other, with the first Accept that there is. Blocks, and whether it has
// ended, say those who join the parts.
Snapshot SumOf(const std::vector<Snapshot>& sessions);

}  // namespace tapedeck::services::session
