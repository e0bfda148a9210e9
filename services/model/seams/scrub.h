// The seam between the scrub handlers and the storage node, in plain values. Field meanings and
// errors are those of tapedeck/v1/recorder.proto.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/trace/span.h"
#include "services/model/recording/recording.h"
#include "services/model/words/names.h"

namespace tapedeck::services {

enum class ScrubState { kNone = 0, kRunning = 1, kStopped = 2, kDone = 3 };

template <>
struct model::EnumNames<ScrubState> {
  using enum ScrubState;
  static constexpr absl::string_view kWhat = "state of a scrub";
  static constexpr std::pair<ScrubState, absl::string_view> kTable[] = {
      {kNone, "NONE"}, {kRunning, "RUNNING"}, {kStopped, "STOPPED"}, {kDone, "DONE"}};
};

struct ScrubFinding {
  std::string recording;
  DamagedBlock block;
  bool repaired = false;
};

struct Scrub {
  std::string parent;
  ScrubState state = ScrubState::kNone;
  std::string recording;
  uint64_t recordings = 0;
  uint64_t blocks = 0;
  uint64_t damaged = 0;
  uint64_t repaired = 0;  // of those
  std::vector<ScrubFinding> findings;
  std::string cause;
};

struct ScrubStart {
  std::string parent;
  uint64_t rate_bytes_per_s = 0;
  bool restart = false;
  telemetry::trace::Branch trace;  // of the call; not sent
};

// Any thread.
class ScrubControl {
 public:
  virtual ~ScrubControl() = default;
  virtual absl::StatusOr<Scrub> StartScrub(const ScrubStart& start) = 0;
  virtual absl::StatusOr<Scrub> GetScrub(const std::string& parent) = 0;
  virtual absl::StatusOr<Scrub> StopScrub(const std::string& parent) = 0;
};

}  // namespace tapedeck::services
