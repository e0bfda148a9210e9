// A session as the storage node sees it: answers Open, feeds or drains the node's source or sink,
// and ends when the transfer, the control stream or every rail does. What it holds is sealed
// whichever comes first.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/observe/flight/trails.h"
#include "services/session/protocol/control.h"
#include "services/session/serving/host.h"
#include "services/session/serving/phases.h"
#include "services/session/serving/server_progress.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"
#include "services/session/transfer/session_trace.h"

namespace tapedeck::services::session {

struct ServerSessionSettings {
  std::string id;
  std::vector<dataplane::Transport*> transports;  // the node's rails; outlive the session
  SessionHost* host = nullptr;                    // outlives the session
  std::shared_ptr<flight::TrailRecord> trail;     // null: none. Shared with who shows it
  telemetry::trace::Tracer* tracer = nullptr;     // outlives the session; null: none
  OnProgress on_progress;                         // may be null
};

// How long the links stay for the last acknowledgements, once the worker has been told the end.
inline constexpr int64_t kLastWordsNs = 5 * dataplane::kSecondNs;
// How often a session is looked at for what it waits for.
inline constexpr int64_t kLookNs = 500 * dataplane::kMillisecondNs;

// On one executor.
class ServerSession final : public ControlEvents, public RailsEvents, public PumpEvents {
 public:
  // `on_ended` is called once, last; it may destroy the session from a posted task.
  ServerSession(dataplane::Executor& executor, const ServerSessionSettings& settings,
                std::unique_ptr<ControlStream> control, std::function<void()> on_ended);
  ~ServerSession() override;

  void Start();

  // Ends the session; what it holds is kept.
  void Abort(const absl::Status& cause);

  Progress progress() const { return progress_.now(); }

 private:
  void OnMessage(Message message) override;
  void OnClosed(const absl::Status& cause) override;
  void OnRailOffer(const RailOffer& offer) override { control_->Send(offer); }
  void OnRailsUp() override {}
  void OnRailsFailed(const absl::Status& cause) override { Abort(cause); }
  void OnRailsClosed() override;
  void OnSourceEnd(uint64_t blocks) override;
  void OnPumpDone(const absl::Status& cause) override;

  absl::Status OnOpen(const Open& open);
  void BeginTrace(const Open& open);
  void OnAdmitted(const Open& open, absl::StatusOr<Admission> admission);
  // While what was asked for is prepared, so that the worker waits.
  void TellAdmission();
  absl::Status BeginTransfer(const Open& open, Admission admission);
  void MakeTransfer(uint32_t peer_slots, const Accept& accept, Admission admission);
  void OnPeerFinished(const Finished& finished);
  void LookAtPhase();
  void TellOfFailure(const absl::Status& cause) const;
  void SendProgress();
  dataplane::flight::Trail trail() const {
    return settings_.trail == nullptr ? dataplane::flight::Trail() : settings_.trail->trail();
  }
  void CloseRails();
  void CheckEnded();
  void LetGo();

  dataplane::Executor& executor_;
  const ServerSessionSettings settings_;
  const std::unique_ptr<ControlStream> control_;
  const std::function<void()> on_ended_;
  const int64_t start_ns_;
  std::string name_;    // of the recording, for the log
  SessionTrace trace_;  // from Open on
  std::unique_ptr<DataPath> data_path_;
  std::unique_ptr<Rails> rails_;
  ServerProgress progress_;                    // of these two
  std::shared_ptr<AdmissionWatch> admission_;  // from Open on
  PhaseWatch phases_;
  bool pump_done_ = false;
  bool accepted_ = false;     // the worker knows of the transfer
  bool finished_ = false;     // the transfer is over
  bool rails_closed_ = true;  // no link touches memory
  bool stream_closed_ = false;
  bool ended_ = false;   // nothing of the transfer is under way
  bool let_go_ = false;  // nothing of it is held
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::session
