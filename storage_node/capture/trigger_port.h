// Reaches the TriggerSink of one session from other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "services/recorder.h"
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

// Shared by the sink, which closes it, and the node.
class TriggerPort {
 public:
  using Act = std::function<absl::StatusOr<Caught>(const services::Trigger&)>;

  // `act` is called on `executor`, until Close.
  TriggerPort(dataplane::Executor& executor, Act act)
      : mailbox_(std::make_shared<store::Mailbox>(executor)), act_(std::move(act)) {}

  // Any thread but the executor's; waits for it, and 2 s for what `act` is not ready for (ABORTED).
  // UNAVAILABLE once the session has ended.
  absl::StatusOr<Caught> Fire(const services::Trigger& trigger);

  // On the executor.
  void Close() { mailbox_->Close(); }

 private:
  absl::StatusOr<Caught> FireOnce(const services::Trigger& trigger);

  const std::shared_ptr<store::Mailbox> mailbox_;
  const Act act_;
};

}  // namespace tapedeck::storage_node::capture
