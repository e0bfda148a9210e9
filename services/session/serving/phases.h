// How long a session of the storage node may stay in each of its phases. A worker that takes the
// next step in time, or that keeps a rail up while blocks may move, is never hurried.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "services/session/transfer/rails.h"

namespace tapedeck::services::session {

// What the node waits for.
enum class Phase {
  kOpen,     // the worker's first message
  kAdmit,    // its own disks and memory
  kConnect,  // the first rail
  kMove,     // blocks, as long as the worker keeps a rail up
  kRest,     // blocks that the worker counted when it ended the stream
  kConsume,  // the worker, to say that it has used all it was sent
};

// A worker that says nothing after the stream is there is dropped after this long.
inline constexpr int64_t kOpenDeadlineNs = 5 * dataplane::kSecondNs;
// Without any step of AdmissionWatch.
inline constexpr int64_t kAdmitNs = 15 * dataplane::kSecondNs;
inline constexpr int64_t kConnectPhaseNs = kFirstRailNs;
// Without any more of them. The node's own disk may be what holds them up.
inline constexpr int64_t kRestNs = 120 * dataplane::kSecondNs;
// Flushing a large file takes the worker's disk minutes.
inline constexpr int64_t kConsumeNs = 600 * dataplane::kSecondNs;
// A worker says something every 250 ms. Longer holds a ring for nobody; shorter
// mistakes a stalled host for a dead one.
inline constexpr int64_t kSilenceNs = 6 * dataplane::kSecondNs;

// Where a session stands.
struct PhaseState {
  Phase phase = Phase::kOpen;
  bool rail_up = false;
  uint64_t done = 0;  // grows while kAdmit and kRest go on
  std::string at;     // what kAdmit is at
};

// On the session's executor.
class PhaseWatch {
 public:
  explicit PhaseWatch(int64_t now_ns) : entered_ns_(now_ns), heard_ns_(now_ns) {}

  // The worker has sent a message.
  void Heard(int64_t now_ns) { heard_ns_ = now_ns; }

  // DEADLINE_EXCEEDED (SESSION_STALLED, LUN_NOT_RESPONDING) once a phase has lasted too long,
  // UNAVAILABLE (PEER_LOST) once nothing has come from the worker for too long. To be asked every
  // second at least.
  absl::Status Look(const PhaseState& state, int64_t now_ns);

 private:
  PhaseState last_;
  int64_t entered_ns_;
  int64_t heard_ns_;
};

}  // namespace tapedeck::services::session
