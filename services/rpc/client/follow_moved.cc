#include "services/rpc/client/follow_moved.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::client {
namespace {

// Empty: it is not said to have gone anywhere.
std::string MovedTo(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  if (!reason.has_value() || reason->reason != "RECORDING_NOT_FOUND") return "";
  const auto moved = reason->metadata.find("moved_to");
  return moved == reason->metadata.end() ? "" : moved->second;
}

absl::Status NoWay(const std::string& name, absl::string_view why) {
  return RecordingNotFound(name,
                           absl::StrCat("recording ", name, " has moved, and its new name ", why));
}

}  // namespace

absl::StatusOr<FollowedRecording> FollowMoved(const GetRecordingOf& get, const std::string& name) {
  std::set<std::string> seen;
  std::string next = name;
  while (seen.size() <= kMostMoves) {
    seen.insert(next);
    auto recording = get(next);
    if (recording.ok()) return FollowedRecording{next, *std::move(recording)};
    next = MovedTo(recording.status());
    if (next.empty()) return recording.status();
    if (!CheckRecordingName(next).ok()) return NoWay(name, "is not a recording's name");
    if (seen.contains(next)) return NoWay(name, absl::StrCat("leads back to ", next));
  }
  return NoWay(name, absl::StrCat("leads on through more than ", kMostMoves, " names"));
}

}  // namespace tapedeck::services::client
