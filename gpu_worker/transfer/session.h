// One transfer of a job: the ring that it registers, its end of the transfer until a session takes
// that, and the transfer itself. A job has one for what it records or plays, and one more for a
// second output.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "gpu_worker/transfer/ring.h"
#include "services/model/seams/catalog.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/parts/dealt_recording.h"
#include "services/session/parts/joined_playback.h"

namespace tapedeck::gpu_worker::transfer {

// Owned by its job, which lives until the session has told of its end. Whoever starts the job makes
// and opens it; then it is its executor's.
class TransferSession final : public services::session::Transfer {
 public:
  TransferSession(dataplane::Executor& executor, TransferRing made);

  const std::shared_ptr<dataplane::SlotPool>& ring() const { return end_.ring; }
  // Until Open.
  services::session::TransferEnd& end() { return end_; }

  // `settings` lack their end and what the ring tells. `channel` is what it records into, as its
  // pipeline was made for it; none: it plays.
  void Open(services::session::ResumingSettings settings, std::optional<services::Channel> channel);

  // The same of several sessions that record into parts; `settings` lack the end, the ring's slots
  // and the check.
  void OpenDealt(services::parts::DealtSettings settings, const services::Channel& channel);
  // The same of several that play them, each with a ring of its own; this one's is not used.
  void OpenJoined(services::parts::JoinedSettings settings);

  // After Open.
  void Start(OnChange on_change) override;
  void Stop() override;
  void EndsEarly(const std::string& why) override;
  // Once it has ended, and not inside its own callback: connections and memory go.
  void LetGo();

 private:
  // FAILED_PRECONDITION (CHANNEL_IN_USE): the session is for other samples than the pipeline makes.
  absl::Status CheckAccepted(const services::session::Accept& accept) const;

  dataplane::Executor& executor_;
  std::optional<services::Channel> channel_;
  services::session::TransferEnd end_;  // until the session takes it, or has ended without
  std::unique_ptr<services::session::Transfer> transfer_;  // null: not opened, or let go
};

}  // namespace tapedeck::gpu_worker::transfer
