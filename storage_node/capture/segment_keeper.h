// Decides which segments of a session a trigger keeps. It knows the samples of each.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/seams/recorder.h"
#include "storage_node/capture/trigger_port.h"
#include "storage_node/capture/trigger_window.h"
#include "storage_node/recording/hold.h"
#include "storage_node/recording/live_recording.h"

namespace tapedeck::storage_node::capture {

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

}  // namespace tapedeck::storage_node::capture
