// A playback of a recording that several storage nodes hold together: a session to each node whose
// part is there, and a Joiner before the sink. What is lost on the way plays as missing, and is
// named. Where each part is to have all blocks one is played alone, until it lacks a block, is lost
// or gives none for a second.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/model/recording/part.h"
#include "services/model/words/note.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/parts/joiner.h"

namespace tapedeck::services::parts {

struct JoinedNode {
  session::ResumingSettings session;  // lacks make_end
  session::TransferEnd end;           // its ring, without a sink
  model::Part part;                   // which one its node has
};

struct JoinedSettings {
  std::vector<JoinedNode> nodes;  // at least one
  std::unique_ptr<dataplane::Sink> sink;
  std::function<model::StageTimes()> stage_times;  // of the sink; null: it does not say
  JoinSettings join;  // without parts, ring_slots, on_wanted and on_done
  // Where `join` says that one gives alone: where another one begins that has to bring this block.
  std::function<model::Playhead(uint64_t block)> playhead_at;
  std::function<void(Note)> on_note;  // as DealtSettings has it
};

// On one executor.
class JoinedPlayback final : public session::Transfer {
 public:
  JoinedPlayback(dataplane::Executor& executor, JoinedSettings settings);

  void Start(OnChange on_change) override;
  void Stop() override;
  void EndsEarly(const std::string& /*why*/) override {}

 private:
  struct Part {
    std::unique_ptr<session::Transfer> session;
    session::TransferEnd end;  // until the session takes it
    session::Snapshot last;
  };

  void Begin(size_t part);
  void BeginOthers();
  void LookIfItGives();

  void OnSnapshot(size_t part, const session::Snapshot& snapshot);
  void OnEnded(size_t part, const absl::Status& error);
  void Report();

  dataplane::Executor& executor_;
  JoinedSettings settings_;
  std::shared_ptr<Joiner> joiner_;
  OnChange on_change_;
  std::vector<Part> parts_;
  uint64_t looked_at_ = 0;  // block that the sink waits for, and for how many looks
  int starved_looks_ = 0;
  size_t failed_parts_ = 0;
  bool joined_ = false;  // the sink has all
  absl::Status error_;
  bool stopped_ = false;
  bool reported_ended_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::parts
