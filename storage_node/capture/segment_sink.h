// The Sink of a session that records into segments. After segment_blocks blocks it continues in a
// new recording, with blocks numbered from 0 again. The node makes the next one while the last is
// half full.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/model/seams/recorder.h"
#include "storage_node/capture/armed_recording.h"
#include "storage_node/capture/stream_end.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/capture/trigger_window.h"
#include "storage_node/recording/hold.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/writing/end_of_space.h"

namespace tapedeck::storage_node::capture {

// Which segments of a session a trigger keeps: knows what samples each has.
struct KeeperOptions {
  TriggerWindow window;
  // Holds a recording, which its writer may still have: it is not deleted. Null if it is gone.
  std::function<std::shared_ptr<recording::Hold>(const std::string& recording, bool writing)> pin;
};

// Part of a SegmentSink, on its executor.
class SegmentKeeper {
 public:
  explicit SegmentKeeper(KeeperOptions options) : options_(std::move(options)) {}

  void OnSegment(uint64_t number, const std::string& recording,
                 std::shared_ptr<recording::LiveRecording> live);
  void OnBlock(uint64_t number, const dataplane::BlockHeader& header);
  // It has all its blocks. Once those before it have, too, triggers that still wait for one of
  // their samples are logged and forgotten.
  void OnClosed(uint64_t number);
  // No more blocks come: the same of all triggers that wait.
  void OnEnd();

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) if its sample is to come, as are those of too many.
  absl::Status CheckTakes(const services::Trigger& trigger) const;
  // Keeps the segments with the samples asked for that there are, and those to come. A sample that
  // is to come is marked when it comes. A trigger that names none takes the newest one, or the
  // first that comes.
  Caught Keep(const services::Trigger& trigger);

 private:
  struct Range {
    uint64_t number = 0;
    std::string recording;
    std::shared_ptr<recording::LiveRecording> live;  // null once closed
    uint64_t first_sample = UINT64_MAX;
    uint64_t end_sample = 0;
  };

  // The session's first block begins with this sample.
  void PlaceAtFirst(uint64_t sample);
  // Those that wait, up to this one.
  void ForgetUntil(std::multimap<uint64_t, services::Trigger>::iterator end);
  bool KeepOne(const Range& range, const services::Trigger& trigger, Caught* caught) const;

  const KeeperOptions options_;
  std::deque<Range> ranges_;                          // by number
  uint64_t newest_end_ = 0;                           // one more than the newest sample
  uint64_t keep_until_ = 0;                           // of the last trigger
  std::multimap<uint64_t, services::Trigger> ahead_;  // by the sample that they wait for
};

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
