#include "services/copy/repair_drafts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/finish_copy.h"

namespace tapedeck::services::copying {
namespace {

// Longer than a node takes to miss a peer.
constexpr absl::Duration kBusyPatience = absl::Seconds(20);

}  // namespace

std::string ChannelOf(const std::string& recording) {
  return recording.substr(0, recording.rfind("/recordings/"));
}

absl::StatusOr<std::vector<Recording>> Drafts(const PartNode& node, const std::string& channel,
                                              const std::string& whole) {
  TD_ASSIGN_OR_RETURN(std::vector<Recording> all, node.catalog->ListRecordings(channel));
  std::erase_if(all, [&](const Recording& one) {
    return one.origin.repairs != whole || one.part.has_value();
  });
  return all;
}

absl::StatusOr<std::vector<Recording>> FinishedDrafts(const PartNode& node,
                                                      const std::string& channel,
                                                      const std::string& whole) {
  TD_ASSIGN_OR_RETURN(std::vector<Recording> all, Drafts(node, channel, whole));
  std::erase_if(all, [](const Recording& one) { return one.state != RecordingState::kSealed; });
  return all;
}

absl::Status RemoveDrafts(const PartNode& node, const std::string& channel,
                          const std::string& whole) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, Drafts(node, channel, whole));
  for (const Recording& draft : all) {
    if (draft.state == RecordingState::kRecording) continue;
    TD_RETURN_IF_ERROR(DeleteOnly(node, draft));
  }
  return absl::OkStatus();
}

absl::Status DeleteOnly(const PartNode& node, const Recording& recording) {
  const absl::Time until = dataplane::SteadyTime() + kBusyPatience;
  while (true) {
    const auto found = node.catalog->GetRecording(recording.name);
    if (absl::IsNotFound(found.status())) return absl::OkStatus();
    TD_RETURN_IF_ERROR(found.status());
    if (found->uid != recording.uid) {
      return ChannelInUse(recording.name, "was written again: another repair is running");
    }
    TD_RETURN_IF_ERROR(CheckNotGoneOn(recording, *found));
    const absl::Status deleted = node.catalog->DeleteRecording(recording.name, found->etag);
    if (absl::IsNotFound(deleted)) return absl::OkStatus();
    const auto reason = ReasonOf(deleted);
    const bool busy = reason.has_value() && reason->reason == "RECORDING_BUSY";
    if (!busy || dataplane::SteadyTime() >= until) return deleted;
    absl::SleepFor(absl::Milliseconds(100));
  }
}

}  // namespace tapedeck::services::copying
