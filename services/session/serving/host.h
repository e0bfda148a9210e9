// The seam between a session and the node that serves it: the node answers an Open with the source
// or sink the session shall pump.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/sink.h"
#include "dataplane/block/source.h"
#include "dataplane/crc/payload_crc.h"
#include "dataplane/executor/executor.h"
#include "dataplane/ladder/ring_fit.h"
#include "dataplane/memory/slot_pool.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transport/transport.h"
#include "services/session/protocol/messages.h"
#include "services/session/transfer/session_stage_times.h"

namespace tapedeck::services::session {

// Exactly one of sink (record) and source (playback) is set.
struct Admission {
  std::unique_ptr<dataplane::Sink> sink;
  std::unique_ptr<dataplane::Source> source;
  std::shared_ptr<dataplane::SlotPool>
      ring;                               // the sink's blocks come from here, the source's lie here
  Accept accept;                          // without session, slots, rails and wire limit
  std::function<std::string()> verifier;  // for Progress, any time; null: none
  bool check_payload = true;              // as in TransferEnd
  bool ordered = false;                   // as in DataPathSettings
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;    // as in TransferEnd
  dataplane::ladder::Registration registration;        // as in TransferEnd
  std::shared_ptr<dataplane::PayloadCrc> payload_crc;  // as in TransferEnd
  std::shared_ptr<SessionStageTimes> stages;           // told by the session; null: nobody asks
  // The recordings that it has made, for Progress; on the session's executor; null: accept says it.
  std::function<std::vector<std::string>()> captures;
  std::vector<dataplane::Transport*> transports;  // the rails to use; empty: all of the node
};

// What a session that is being admitted waits for, as its peer is told. Shared by the session and
// whoever prepares what it asked for. Any thread.
class AdmissionWatch {
 public:
  // Such as "waiting for LUN raw". Each call counts as progress: the session's deadline begins
  // anew.
  void Say(std::string phase, std::optional<double> memory_ready = std::nullopt) {
    absl::MutexLock lock(&mutex_);
    phase_ = std::move(phase);
    memory_ready_ = memory_ready;
    ++steps_;
  }
  std::pair<std::string, uint64_t> phase() const {
    absl::MutexLock lock(&mutex_);
    return {phase_, steps_};
  }
  // 0 to 1; none: the phase is not about memory.
  std::optional<double> memory_ready() const {
    absl::MutexLock lock(&mutex_);
    return memory_ready_;
  }
  // Nobody waits any more: what takes long need not be ended.
  void Leave() { left_ = true; }
  bool left() const { return left_; }

 private:
  mutable absl::Mutex mutex_;
  std::string phase_ ABSL_GUARDED_BY(mutex_);
  std::optional<double> memory_ready_ ABSL_GUARDED_BY(mutex_);
  uint64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> left_ = false;
};

using OnAdmitted = std::function<void(absl::StatusOr<Admission>)>;

class SessionHost {
 public:
  virtual ~SessionHost() = default;

  // Called on `executor`, which must not wait; so does `admitted`, once, at once or later. What it
  // gives lives on `executor`, and may be dropped there: then nobody wants it any more.
  virtual void Admit(const Open& open, dataplane::Executor& executor,
                     std::shared_ptr<AdmissionWatch> watch, OnAdmitted admitted) = 0;
};

}  // namespace tapedeck::services::session
