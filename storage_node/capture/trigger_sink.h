// The Sink of a session into a triggered channel. It holds the last seconds of the stream in their
// slots and records nothing. A trigger makes a recording of the held samples around it and of those
// that follow. Only then the recording exists, so it has the time of its own samples, and no list
// has a recording without a trigger. While the disk makes it, the sink holds new blocks, too.
// Recordings hold whole blocks: those with the first and the last sample asked for and all between.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/model/recording/sample_time.h"
#include "services/model/seams/recorder.h"
#include "storage_node/capture/armed_recording.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/capture/trigger_window.h"

namespace tapedeck::storage_node::capture {

struct TriggerOptions {
  TriggerWindow window;
  size_t hold_blocks = 0;    // slots of the ring that may be held while nothing has triggered
  size_t making_blocks = 0;  // and beyond those while a recording is made
  // Asks for a fresh recording whose first sample was taken at `begin`; `made` is called once on
  // the sink's executor, at once or later.
  std::function<void(services::model::SampleTime begin, OnPrepared made)> make;
  // Why nothing could be recorded now. Any thread.
  std::function<absl::Status()> check;
};

// Owned by the session; lives on its executor.
class TriggerSink final : public dataplane::Sink {
 public:
  TriggerSink(TriggerOptions options, dataplane::Executor& executor);
  ~TriggerSink() override { port_->Close(); }

  // For other threads, also when this is gone.
  std::shared_ptr<TriggerPort> port() const { return port_; }

  // Blocks come in any order. What has come is acknowledged as received; nothing is ever more. A
  // block that triggers does so when all before it have come. kNotNow while a recording is made and
  // no more can be held, or the block begins another one.
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override;
  // A capture under way is closed with what it has.
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override;
  void SetWaker(dataplane::Waker waker) override;
  dataplane::Watermarks watermarks() const override { return {.received = next_}; }
  absl::Status status() const override;
  // The newest recordings, oldest first.
  const std::vector<std::string>& captures() const { return captures_; }

  // Starts a capture, or makes the one under way longer. Answers once its recording is made. A
  // trigger of a sample that has not come is answered at once and acts when the sample comes; the
  // answer names no recording then, unless the capture under way reaches as far. A sample of the
  // capture before is marked there. FAILED_PRECONDITION at the stream's end; INVALID_ARGUMENT: its
  // sample is held no more; RESOURCE_EXHAUSTED (LIMIT_REACHED) if too many wait.
  void OnTrigger(const services::Trigger& trigger, TriggerPort::Answer answer);

 private:
  struct Asked {
    services::Trigger trigger;   // with its sample; none: the first that comes
    uint64_t last_sample = 0;    // a block's last one; else the trigger's
    TriggerPort::Answer answer;  // of a block, or once it is given: null
    services::Capture bounds;    // of the capture, with this trigger
    bool marked = false;         // its sample is in the capture before
  };
  struct ActiveCapture {
    std::optional<ArmedRecording> recording;  // none: it is being made
    services::Capture bounds;
    uint64_t blocks = 0;                    // pushed
    uint64_t recorded_end = 0;              // one more than the newest sample pushed
    services::telemetry::trace::Span span;  // of the call that triggered it
    std::vector<Asked> asked;               // wait for the recording
  };

  struct PreviousCapture {
    std::string recording;
    std::shared_ptr<recording::LiveRecording> live;
    uint64_t first_sample = 0;
    uint64_t end_sample = 0;
  };

  bool making() const { return capture_.has_value() && !capture_->recording.has_value(); }
  // The first that a capture can have now.
  uint64_t OldestSample() const;
  void OnMade(absl::StatusOr<ArmRecording> arm);
  void OnNotMade(const absl::Status& error);
  // Takes what is next in order.
  absl::Status TakeEarly();
  absl::Status Take(dataplane::Block block);
  // No more can be held, or the next one triggers what does not belong to the recording that is
  // being made.
  bool Stuck() const;
  // Its window lies within the capture or touches it, or its block is one of the capture's.
  bool BelongsToCapture(uint64_t sample) const;
  absl::Status Record(dataplane::Block block);
  absl::Status RecordHeld();
  void DropOld();
  // Answers a trigger whose sample is to come, and keeps it.
  void Await(Asked asked);
  // The triggers whose samples have come.
  void CatchDue();
  // Of a trigger whose sample has come: into the capture, or one to be made.
  void Place(Asked asked);
  // Its sample is held no more: the capture before may have it.
  void CatchBehind(Asked asked);
  // Begins a capture or makes it longer. Between two triggers of a block, nothing is left out.
  void Catch(Asked asked);
  // The first block held with that sample or a later one, which there is.
  const dataplane::BlockHeader& FirstFrom(uint64_t sample) const;
  // Into the recording, which is made: what is held, and what was asked.
  void Settle();
  void EndCapture();
  // Forgets what has ended well.
  void DropClosed();
  void CutCapture(const absl::Status& cause);

  const TriggerOptions options_;
  const std::shared_ptr<TriggerPort> port_;
  dataplane::Waker waker_;
  std::map<uint64_t, dataplane::Block> early_;  // after a gap that other rails will fill
  uint64_t next_ = 0;                           // of the stream
  uint64_t newest_end_ = 0;                     // one more than the newest sample
  std::deque<dataplane::Block> held_;           // in order
  std::optional<ActiveCapture> capture_;
  PreviousCapture previous_;              // none: it has no samples
  std::multimap<uint64_t, Asked> ahead_;  // by the sample that they wait for
  std::deque<Asked> waiting_;             // for the captures after the one whose recording is made
  std::list<ArmedRecording> closing_;
  std::vector<std::string> captures_;
  absl::Status error_;
  bool ended_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::capture
