// A recording of a worker over as many sessions as it needs: when one is lost, its source keeps
// what was not acknowledged, and another session goes on with the same recording as soon as the
// storage node answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/session/opening/client_session.h"
#include "services/session/transfer/resumable_source.h"

namespace tapedeck::services::session {

struct ResumingSettings {
  ClientSessionSettings session;  // its make_end is asked once
  int64_t resume_for_ns = 0;      // 0: the first session is all there is
  std::function<std::unique_ptr<ControlStream>()> open_stream;
  // Other storage nodes that may have taken over what the recording lies on, HOST:PORT: once its
  // session is lost they are tried in turn with `session.node`, the one that had it last first.
  std::vector<std::string> standbys;
  std::function<std::unique_ptr<ControlStream>(size_t standby)> open_standby;  // counted from 0
  // Of a part of a recording: takes what a session has left, also the last one that fails; the next
  // one goes on behind all that was given. Null: it is given again to that one.
  std::function<void(std::vector<dataplane::Block>)> give_elsewhere;
  // A first session that cannot be opened yet is one that was lost: it is tried again as long.
  bool begins_late = false;
};

// On one executor. A playback has one session.
class ResumingSession final : public Transfer {
 public:
  ResumingSession(dataplane::Executor& executor, ResumingSettings settings);

  void Start(OnChange on_change) override;
  // Between two sessions at once.
  void Stop() override;
  void EndsEarly(const std::string& why) override;

 private:
  // The node whose turn it is.
  const std::string& node() const;
  void OpenSession();
  absl::StatusOr<TransferEnd> MakeEnd(const Accept& accept);
  void OnSnapshot(const Snapshot& snapshot);
  void OnUp(const Snapshot& snapshot);
  // Outside the calls of the session.
  void OnEnded(const Snapshot& snapshot);
  bool MayGoOn(const Snapshot& snapshot) const;
  bool IsLost(const absl::Status& cause) const;
  bool MayPassHere(const absl::Status& refusal) const;
  bool MayBegin(const Snapshot& snapshot) const;
  void OnLost(const absl::Status& cause);
  void TakeBack();
  // The recording is whole, although its session was lost on the last words.
  bool IsComplete(const absl::Status& refusal) const;
  void TryAgain();
  void Conclude(const absl::Status& error);
  void ConcludeWhole();
  // Of the whole, where `last` is that of the last session.
  absl::Status ErrorOf(const absl::Status& last) const;
  // With what the sessions before have done.
  Snapshot Sum(const Snapshot& snapshot) const;

  dataplane::Executor& executor_;
  const ResumingSettings settings_;
  OnChange on_change_;
  std::unique_ptr<ClientSession> session_;  // null between two
  std::optional<TransferEnd> end_;          // between two
  ResumableSource* resumable_ = nullptr;    // of the end; null: it cannot be gone on with
  std::optional<Resume> resume_;            // what the next session asks for
  std::string verifier_;                    // of the last session
  Snapshot before_;                         // of the sessions that have ended, summed up
  Snapshot last_;                           // what was told last
  absl::Status lost_;                       // why the session was lost; OK: it is not
  absl::Status refusal_;                    // of the last try
  uint64_t outage_ = 0;                     // counts the losses
  size_t turn_ = 0;                         // 0: session.node; else a standby, counted from 1
  uint64_t blocks_at_loss_ = 0;             // that were acknowledged at the last one
  uint32_t failures_ = 0;                   // since it ran
  bool over_ = false;                       // the time to go on is over
  bool ran_ = false;                        // a session has
  bool stopped_ = false;
  std::string early_;  // why its source ends early; empty: it does not
  bool ended_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::session
