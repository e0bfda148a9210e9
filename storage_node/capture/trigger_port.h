// Reaches the TriggerSink of one session from other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dataplane/executor/executor.h"
#include "services/model/seams/recorder.h"
#include "storage_node/recording/hold.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/store/mailbox.h"

namespace tapedeck::storage_node::capture {

// What a trigger has caught.
struct Caught {
  services::Capture capture;
  // Of the recordings in it: they are not deleted while these are held.
  std::vector<std::shared_ptr<recording::Hold>> pins;
  // Of `capture`, those under way that were told that they are kept, or marked: that is still to be
  // on the disk.
  std::vector<std::pair<std::string, std::shared_ptr<recording::LiveRecording>>> told;
  // Of `capture`, those that are still to be told that they are kept, and the one that has the
  // trigger's sample, which is still to be marked; empty if it is.
  std::vector<std::string> to_keep;
  // Of each recording of `capture`, one more than its newest sample.
  std::vector<uint64_t> ends;
  std::string to_mark;
};

// For the log: so many triggers have waited for samples, this one the first, and they have not
// come.
void LogNotCome(uint64_t sample, size_t triggers);

// Shared by the sink, which closes it, and the node.
class TriggerPort {
 public:
  // Takes what a trigger has caught, or why it has caught nothing. One that goes uncalled says that
  // the session has ended.
  using Answer = absl::AnyInvocable<void(absl::StatusOr<Caught>)>;
  using Act = std::function<void(const services::Trigger&, Answer answer)>;

  // Longer than a disk takes to make a recording, and well within the time that a client waits for
  // an answer.
  static constexpr absl::Duration kPatience = absl::Seconds(5);

  // `act` is called on `executor`, until Close. It answers at once or later.
  TriggerPort(dataplane::Executor& executor, Act act, absl::Duration patience = kPatience);
  ~TriggerPort();

  // Any thread but the executor's, for which it waits. UNAVAILABLE once the session has ended.
  // DEADLINE_EXCEEDED after `patience`: SESSION_STALLED if the session has not heard of the
  // trigger, and then it never does; LUN_NOT_RESPONDING if it has, and has no recording yet.
  absl::StatusOr<Caught> Fire(const services::Trigger& trigger);

  // On the executor.
  void Close();

 private:
  class Call;
  class Ticket;

  const std::shared_ptr<store::Mailbox> mailbox_;
  const Act act_;
  const absl::Duration patience_;
};

}  // namespace tapedeck::storage_node::capture
