// The Sink of a session into a triggered channel: holds the last seconds of the stream in the slots
// they came in and records nothing, until a trigger makes a recording of what is held around it and
// of what follows. Recordings hold whole blocks: those with the first and the last sample asked for
// and all between.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/sink.h"
#include "services/recorder.h"
#include "storage_node/capture/armed_recording.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/capture/trigger_window.h"

namespace tapedeck::storage_node::capture {

struct TriggerOptions {
  TriggerWindow window;
  size_t hold_blocks = 0;  // slots of the ring that may be held
  // Asks for a fresh recording; `made` is called once on the sink's executor, at once or later.
  std::function<void(OnPrepared made)> make;
};

// Owned by the session; lives on its executor.
class TriggerSink final : public dataplane::Sink {
 public:
  // Of the stream: the first and the last of those that trigger.
  struct Samples {
    uint64_t first = 0;
    uint64_t last = 0;
  };

  TriggerSink(TriggerOptions options, ArmedRecording first, dataplane::Executor& executor);
  ~TriggerSink() override { port_->Close(); }

  // For other threads, also when this is gone.
  std::shared_ptr<TriggerPort> port() const { return port_; }

  // Blocks come in any order. What has come is acknowledged as received; nothing is ever more. A
  // block that triggers does so when all before it have come, with all that is held by then.
  // kNotNow while the recording for that is being made and no more can be held.
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override;
  // A capture under way is closed with what it has.
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override;
  void SetWaker(dataplane::Waker waker) override;
  dataplane::Watermarks watermarks() const override { return {.received = next_}; }
  absl::Status status() const override;

  // Starts a capture, or makes the one under way longer. FAILED_PRECONDITION at the stream's end;
  // ABORTED while the recording for the next capture is being made.
  absl::StatusOr<Caught> OnTrigger(const services::Trigger& trigger);

 private:
  struct ActiveCapture {
    ArmedRecording recording;
    services::Capture bounds;
    uint64_t blocks = 0;                    // pushed
    services::telemetry::trace::Span span;  // of the call that triggered it
  };

  void MakeNext();
  void OnMade(absl::StatusOr<ArmRecording> arm);
  // Takes what is next in order.
  absl::Status TakeEarly();
  absl::Status Take(dataplane::Block block);
  // A trigger waits for its recording, and no more can be held, or the next one is not of the same
  // recording.
  bool Stuck() const;
  // What a block in it triggers, once the next recording is there.
  absl::Status CatchTriggered();
  absl::Status Record(dataplane::Block block);
  absl::Status RecordHeld();
  void DropOld();
  // Between two triggers, the samples of which are in order, nothing is left out.
  absl::StatusOr<Caught> Catch(const services::Trigger& first, const services::Trigger& last);
  void EndCapture();

  const TriggerOptions options_;
  const std::shared_ptr<TriggerPort> port_;
  dataplane::Waker waker_;
  std::map<uint64_t, dataplane::Block> early_;  // after a gap that other rails will fill
  uint64_t next_ = 0;                           // of the stream
  uint64_t newest_end_ = 0;                     // one more than the newest sample
  std::deque<dataplane::Block> held_;           // in order
  std::optional<Samples> triggered_;            // waits for a recording to be made
  std::optional<ArmedRecording> armed_;
  std::optional<ActiveCapture> capture_;
  std::list<ArmedRecording> closing_;
  absl::Status error_;
  bool making_ = false;
  bool ended_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::capture
