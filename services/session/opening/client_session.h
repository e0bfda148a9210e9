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
#include "dataplane/transfer/counters.h"
#include "services/observe/flight/trails.h"
#include "services/session/protocol/control.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"
#include "services/session/transfer/session_trace.h"

namespace tapedeck::services::session {

// Where a client session stands; the last one given is the result.
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
  // On the executor, at every change of state and every 100 ms. The last has `ended`; after it, and
  // only outside the call, the session may be destroyed.
  std::function<void(const Snapshot&)> on_change;
};

// On one executor.
class ClientSession final : public ControlEvents, public RailsEvents, public PumpEvents {
 public:
  ClientSession(dataplane::Executor& executor, ClientSessionSettings settings,
                std::unique_ptr<ControlStream> control);

  void Start();

  // Ends in order: a recording is sealed with what has been taken from the source; a playback
  // stops.
  void Stop();
  // Of a recording: its source will end by itself, before it should, and the recording says why.
  void EndsEarly(const std::string& why) { early_ = why; }

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
