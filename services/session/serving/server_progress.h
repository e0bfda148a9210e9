// How far a session of the storage node is: what its worker is told, what its recording keeps of
// the time that it took, and what the node counts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/clock.h"
#include "services/observe/flight/trails.h"
#include "services/session/protocol/control.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"
#include "services/session/transfer/session_stage_times.h"

namespace tapedeck::services::session {

// How often progress is told while there is some, and while there is none.
inline constexpr int64_t kProgressNs = 200 * dataplane::kMillisecondNs;
inline constexpr int64_t kIdleProgressNs = dataplane::kSecondNs;

// Told at every progress message, on the session's executor.
using OnProgress = std::function<void(Direction, const Progress&, uint64_t ring_bytes)>;

// What the host says of a session; as in Admission.
struct HostWords {
  std::function<std::string()> verifier;
  std::function<std::vector<std::string>()> captures;
  std::shared_ptr<SessionStageTimes> stages;
};

// The session's, on its executor.
class ServerProgress {
 public:
  struct Listeners {
    ControlStream* control = nullptr;            // outlives this
    std::shared_ptr<flight::TrailRecord> trail;  // null: none
    OnProgress on_progress;                      // may be null
  };

  ServerProgress(const dataplane::Clock& clock, Listeners listeners)
      : clock_(clock), listeners_(std::move(listeners)) {}
  ~ServerProgress() { AskNoMore(); }
  ServerProgress(const ServerProgress&) = delete;
  ServerProgress& operator=(const ServerProgress&) = delete;

  // What there is to tell of, until Forget. All of `host` may be null.
  void Begin(const DataPath& data_path, const Rails& rails, HostWords host);
  // What it came to stays.
  void Forget();

  Progress now() const;
  // With what this end has spent its time on.
  Progress full() const;

  // To all of them, if it has changed or nothing was told for a second.
  void Tell();
  // A worker that says what its clock is gets an answer at once.
  void Heard(const Progress& news);

 private:
  void AskNoMore();

  const dataplane::Clock& clock_;
  const Listeners listeners_;
  const DataPath* data_path_ = nullptr;
  const Rails* rails_ = nullptr;
  HostWords host_;
  StageTimes peer_stages_;  // the worker's latest word
  Progress told_;
  int64_t told_ns_ = 0;
  Progress last_;  // once the transfer is gone
};

}  // namespace tapedeck::services::session
