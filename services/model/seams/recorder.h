// The seam between the recorder handlers and the storage node, in plain values. Field meanings and
// errors are those of tapedeck/v1/recorder.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/trace/span.h"
#include "services/model/recording/recording.h"
#include "services/model/words/field.h"

namespace tapedeck::services {

struct Trigger {
  std::optional<uint64_t> sample;  // none: the newest
  std::string label = "trigger";
  std::string comment;
  telemetry::trace::Branch trace;  // of the call; not sent
};

struct Capture {
  std::string recording;
  std::vector<std::string> recordings;
  uint64_t first_sample = 0;
  uint64_t trigger_sample = 0;
  uint64_t end_sample = 0;
};

template <>
struct model::Fields<Capture> {
  static constexpr auto kList = std::make_tuple(
      model::Describe(&Capture::recording, {.name = "recording", .role = model::Role::kReported}),
      model::Describe(&Capture::recordings, {.name = "recordings", .role = model::Role::kReported}),
      model::Describe(&Capture::first_sample,
                      {.name = "first_sample", .role = model::Role::kReported}),
      model::Describe(&Capture::trigger_sample,
                      {.name = "trigger_sample", .role = model::Role::kReported}),
      model::Describe(&Capture::end_sample,
                      {.name = "end_sample", .role = model::Role::kReported}));
};

// Any thread; each call may block for a session's answer, or on a disk.
class RecorderControl {
 public:
  virtual ~RecorderControl() = default;
  virtual absl::StatusOr<std::vector<Capture>> TriggerRecording(const std::string& channel,
                                                                const Trigger& trigger) = 0;
  // All of them or none.
  virtual absl::Status Annotate(const std::string& recording,
                                std::span<const Annotation> annotations) = 0;
  // Each goes into the segments with its samples, if the recording is one of a stream: as many as
  // go in a second. An error is of the first one, and nothing was added.
  virtual absl::StatusOr<model::Marked> AnnotateStream(const std::string& recording,
                                                       std::span<const Annotation> annotations) = 0;
  absl::Status AnnotateRecording(const std::string& recording, const Annotation& annotation) {
    return Annotate(recording, {&annotation, 1});
  }
  virtual absl::Status KeepRecording(const std::string& recording, bool kept) = 0;
};

}  // namespace tapedeck::services
