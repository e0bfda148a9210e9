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
#include "services/model/words/field.h"
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

template <>
struct model::Fields<ScrubFinding> {
  static constexpr auto kList = std::make_tuple(
      model::Describe(&ScrubFinding::recording,
                      {.name = "recording", .role = model::Role::kReported}),
      model::Describe(&ScrubFinding::block, {.name = "block", .role = model::Role::kReported}),
      model::Describe(&ScrubFinding::repaired,
                      {.name = "repaired", .role = model::Role::kReported}));
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

template <>
struct model::Fields<Scrub> {
  static constexpr auto kList = std::make_tuple(
      model::Describe(&Scrub::parent, {.name = "parent", .role = model::Role::kReported}),
      model::Describe(&Scrub::state,
                      {.name = "state", .role = model::Role::kReported, .grows = true}),
      model::Describe(&Scrub::recording, {.name = "recording", .role = model::Role::kReported}),
      model::Describe(&Scrub::recordings, {.name = "recordings", .role = model::Role::kReported}),
      model::Describe(&Scrub::blocks, {.name = "blocks", .role = model::Role::kReported}),
      model::Describe(&Scrub::damaged, {.name = "damaged", .role = model::Role::kReported}),
      model::Describe(&Scrub::repaired, {.name = "repaired", .role = model::Role::kReported}),
      model::Describe(&Scrub::findings, {.name = "findings", .role = model::Role::kReported}),
      model::Describe(&Scrub::cause, {.name = "cause", .role = model::Role::kReported}));
};

struct ScrubStart {
  std::string parent;
  uint64_t rate_bytes_per_s = 0;
  bool restart = false;
  telemetry::trace::Branch trace;  // of the call; not sent
};

template <>
struct model::Fields<ScrubStart> {
  static constexpr auto kList =
      std::make_tuple(model::Report(&ScrubStart::parent, "parent"),
                      model::Report(&ScrubStart::rate_bytes_per_s, "rate_bytes_per_s"),
                      model::Report(&ScrubStart::restart, "restart"));
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
