// A session as the worker sees it: opens the control stream, offers its rails, pumps its own source
// or sink, and reports how it ended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/observe/flight/trails.h"
#include "services/session/opening/transfer.h"
#include "services/session/protocol/control.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"
#include "services/session/transfer/session_trace.h"

namespace tapedeck::services::session {

struct ClientSessionSettings {
  std::string node;  // HOST:PORT of the storage node, for errors
  Open open;
  std::vector<dataplane::Transport*> transports;  // the rails to use; outlive the session
  uint32_t connections_per_rail = 1;
  bool ordered = false;                        // playback: the sink wants blocks in order
  std::shared_ptr<flight::TrailRecord> trail;  // null: none. Shared with who shows it
  telemetry::trace::Branch trace;              // of what the session is part of
  // Makes the worker's end once the node has told what the stream is like.
  std::function<absl::StatusOr<TransferEnd>(const Accept&)> make_end;
};

// On one executor.
class ClientSession final : public Transfer,
                            public ControlEvents,
                            public RailsEvents,
                            public PumpEvents {
 public:
  ClientSession(dataplane::Executor& executor, ClientSessionSettings settings,
                std::unique_ptr<ControlStream> control);

  void Start(OnChange on_change) override;
  void Stop() override;
  void EndsEarly(const std::string& why) override { early_ = why; }

  // Once it has ended: what another session needs to go on with the recording. None if it has none:
  // the end was not made, or it plays.
  std::optional<Leftover> TakeLeftover();

 private:
  enum class State { kOpening, kConnecting, kRunning, kEnding, kEnded };

  void OnMessage(Message message) override;
  void OnClosed(const absl::Status& cause) override;
  void OnRailOffer(const RailOffer& offer) override { control_->Send(offer); }
  void OnRailsUp() override;
  void OnRailsFailed(const absl::Status& cause) override { GiveUp(cause); }
  void OnRailsClosed() override;
  void OnSourceEnd(uint64_t blocks) override;
  void OnPumpDone(const absl::Status& cause) override;

  absl::Status Check(const Message& message) const;
  void LookAtOpening();
  absl::Status OnAccept(const Accept& accept);
  void OnPeerFinished(const Finished& finished);
  void GiveUp(const absl::Status& cause);
  void End(const absl::Status& cause);
  void CheckEnded();
  // Tells the node how far this end is; its answer measures how far the clocks are apart.
  void Tell();
  void OnProgress(const Progress& news);
  dataplane::flight::Trail trail() const {
    return settings_.trail == nullptr ? dataplane::flight::Trail() : settings_.trail->trail();
  }
  void Refresh();
  Progress FullProgress() const;
  void Report();
  void Tick();

  dataplane::Executor& executor_;
  const ClientSessionSettings settings_;
  const std::unique_ptr<ControlStream> control_;
  OnChange on_change_;
  State state_ = State::kOpening;
  int silent_looks_ = 0;  // before Accept: since the node's last word or sign of life
  int64_t heard_ns_ = 0;  // before Accept: when its last word came
  std::string opening_phase_ = "its connection has not been made, or does not answer";
  Snapshot snapshot_;
  Progress peer_;  // the node's latest word
  uint64_t source_blocks_ = 0;
  bool stopped_ = false;
  std::string early_;  // why the source ends early; empty: it does not
  bool pump_done_ = false;
  bool sated_ = false;  // playback: no more blocks are wanted, although the node may have more
  bool stream_closed_ = false;
  bool rails_closed_ = true;
  int64_t start_ns_ = 0;
  int64_t told_ns_ = 0;    // when the node was last told of progress
  int more_readings_ = 0;  // of the clocks, each as soon as the last is answered
  int64_t running_ns_ = 0;
  SessionTrace trace_;
  std::unique_ptr<DataPath> data_path_;
  std::unique_ptr<Rails> rails_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::session
