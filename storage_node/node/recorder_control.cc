#include "storage_node/node/recorder_control.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::storage_node::node {

absl::StatusOr<std::vector<services::Capture>> CaptureService::TriggerRecording(
    const std::string& channel, const services::Trigger& trigger) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel));
  TD_RETURN_IF_ERROR(recordings_.FindChannel(name).status());
  std::vector<services::Capture> captures;
  for (const auto& port : triggers_.Find(channel)) {
    auto caught = port->Fire(trigger);
    if (absl::IsUnavailable(caught.status())) continue;  // it ended meanwhile
    TD_RETURN_IF_ERROR(caught.status());
    TD_RETURN_IF_ERROR(scribe_.WriteDown(*caught, trigger));
    captures.push_back(std::move(caught->capture));
  }
  if (!captures.empty()) return captures;
  return services::WithReason(
      absl::FailedPreconditionError(
          absl::StrCat(channel,
                       ": no session waits for a trigger; record into it, and make it with "
                       "--pre-trigger")),
      "CHANNEL_NOT_TRIGGERED", {{"channel", channel}});
}

absl::Status CaptureService::Annotate(const std::string& recording,
                                      std::span<const services::Annotation> annotations) {
  return scribe_.Annotate(recording, annotations);
}

absl::Status CaptureService::KeepRecording(const std::string& recording, bool kept) {
  return scribe_.Keep(recording, kept);
}

}  // namespace tapedeck::storage_node::node
