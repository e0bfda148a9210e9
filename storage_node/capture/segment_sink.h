// The Sink of a session that records into segments. After segment_blocks blocks it continues in a
// new recording, with blocks numbered from 0 again. The node makes the next one while the last is
// half full.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "storage_node/capture/armed_recording.h"
#include "storage_node/capture/segment_keeper.h"
#include "storage_node/capture/stream_end.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/recording/writing/end_of_space.h"

namespace tapedeck::storage_node::capture {

struct SegmentOptions {
  uint64_t segment_blocks = 0;
  uint64_t first_number = 0;  // of the first segment; above 0 where a stream goes on
  // Asks for segment `number` of the session; `made` is called once on the sink's executor, at once
  // or later.
  std::function<void(uint64_t number, OnPrepared made)> make;
  KeeperOptions keeper;
  // Of a triggered channel: writes down what a block has triggered, of which the sink could not
  // tell all; `done` is called once on the sink's executor, later.
  std::function<void(Caught caught, services::Trigger trigger, dataplane::Task done)> write_down;
  // Writes down how the stream ended on its last segment, which is closed; `done` is called once on
  // the sink's executor, later.
  std::function<void(StreamEnd end, dataplane::Task done)> conclude;
};

// Owned by the session; lives on its executor.
class SegmentSink final : public dataplane::Sink {
 public:
  // Of a stream that goes on `more` are those that follow the first and are there already.
  SegmentSink(SegmentOptions options, ArmedRecording first, dataplane::Executor& executor,
              std::vector<ArmedRecording> more = {});
  ~SegmentSink() override { port_->Close(); }

  // For other threads, also when this is gone.
  std::shared_ptr<TriggerPort> port() const { return port_; }
  const std::string& first_recording() const { return first_recording_; }

  // Errors are those of RecordingWriter, of the segment they are about, and of making the next one.
  // kNotNow while the next segment is being made, too many wait to be closed, or too much that was
  // triggered waits to be written down. If no segment can be made for a block, the sink drops it
  // and those above it, and fails as recording::EndOfSpace says.
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override;
  // A segment made ahead that has no block goes away. The last one with blocks says why the stream
  // ended, also if it was full.
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override;
  // The last segment says so.
  void EndEarly(const std::string& why) override { ends_early_ = why; }
  void SetWaker(dataplane::Waker waker) override;
  // Of the session's blocks, over all segments.
  dataplane::Watermarks watermarks() const override;
  absl::Status status() const override;

 private:
  struct Segment {
    uint64_t number = 0;
    ArmedRecording recording;
    bool used = false;    // has a block
    bool ending = false;  // has all its blocks
    bool closed = false;
  };

  void Open(uint64_t number, ArmedRecording recording);
  // Asks for the next segment; OnMade may be called before this returns.
  void MakeNext(bool ahead);
  void OnMade(uint64_t number, bool ahead, absl::StatusOr<ArmRecording> arm);
  // Makes segments up to this one. kNotNow: when it is made, or one before it is closed. kEnd: it
  // cannot be made, and blocks before it are still to come.
  absl::StatusOr<dataplane::Flow> MakeUpTo(uint64_t number);
  // Whether making the next one, which has failed, may succeed now: one more is closed. Its error
  // if nothing will make room for it.
  absl::StatusOr<bool> MayTryAgain();
  // How many have all their blocks and are not closed.
  size_t ending() const;
  void MakeAhead(uint64_t sequence);
  bool HasAllOf(uint64_t number) const;
  void EndFull(Segment& segment);
  // Finds out what is closed, and drops that from the front, but for the last.
  void Retire();
  absl::StatusOr<Caught> OnTrigger(const services::Trigger& trigger);
  // What a block of a triggered channel triggers.
  void CatchTriggered(const dataplane::BlockHeader& header);
  void WriteDownNext();
  // Whether the last segment says why the stream ended.
  bool Concluded(const absl::Status& cause);

  const SegmentOptions options_;
  const std::shared_ptr<TriggerPort> port_;
  dataplane::Waker waker_;
  std::deque<Segment> open_;  // never empty; consecutive
  std::string first_recording_;
  struct {
    uint64_t number = 0;
    std::string name;
    std::shared_ptr<recording::LiveRecording> live;  // null: none has a block
  } newest_;                                         // of those with a block
  SegmentKeeper keeper_;
  uint64_t ahead_tried_ = 0;  // the newest segment that was tried to be made ahead
  bool making_ = false;
  absl::Status make_error_;           // of the last attempt that was not ahead
  uint64_t closings_ = 0;             // segments that were closed
  uint64_t closings_at_failure_ = 0;  // when make_error_ came
  absl::Status error_;
  recording::EndOfSpace end_of_space_;
  std::deque<std::pair<Caught, services::Trigger>> to_write_down_;
  bool writing_down_ = false;
  bool ended_ = false;
  bool to_conclude_ = false;  // newest_ was full before the stream ended
  bool concluding_ = false;
  std::string ends_early_;  // why; empty: it does not
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::capture
