#include "storage_node/node/recorder_control.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::node {

namespace {

// `phase`: of a session that is not ready yet.
absl::Status NotTriggered(const services::Channel& channel,
                          const std::optional<std::string>& phase) {
  std::map<std::string, std::string> metadata{{"channel", channel.name}};
  std::string why = ": no session waits for a trigger; record into the channel first";
  if (phase.has_value()) {
    metadata["phase"] = *phase;
    why = absl::StrCat(": the session is not ready for a trigger: ", *phase,
                       "; try again when its job is RUNNING");
  } else if (!channel.triggered()) {
    why =
        ": the channel takes no trigger; tapectl channel create --pre-trigger makes one that does";
  }
  return services::WithReason(absl::FailedPreconditionError(absl::StrCat(channel.name, why)),
                              "CHANNEL_NOT_TRIGGERED", metadata);
}

}  // namespace

absl::StatusOr<std::vector<services::Capture>> CaptureService::TriggerRecording(
    const std::string& channel, const services::Trigger& trigger) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel));
  TD_ASSIGN_OR_RETURN(const services::Channel found, recordings_.FindChannel(name));
  std::vector<services::Capture> captures;
  for (const auto& port : triggers_.Find(channel)) {
    auto caught = port->Fire(trigger);
    if (absl::IsUnavailable(caught.status())) continue;  // it ended meanwhile
    TD_RETURN_IF_ERROR(caught.status());
    TD_RETURN_IF_ERROR(metadata_.WriteDown(*caught, trigger));
    captures.push_back(std::move(caught->capture));
  }
  if (!captures.empty()) return captures;
  return NotTriggered(found, triggers_.Phase(channel));
}

absl::Status CaptureService::Annotate(const std::string& recording,
                                      std::span<const services::Annotation> annotations) {
  return metadata_.Annotate(recording, annotations);
}

absl::StatusOr<services::model::Marked> CaptureService::AnnotateStream(
    const std::string& recording, std::span<const services::Annotation> annotations) {
  return metadata_.AnnotateStream(recording, annotations);
}

absl::Status CaptureService::KeepRecording(const std::string& recording, bool kept) {
  return metadata_.Keep(recording, kept);
}

}  // namespace tapedeck::storage_node::node
