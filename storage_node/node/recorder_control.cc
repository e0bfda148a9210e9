#include "storage_node/node/recorder_control.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/caller_loop.h"
#include "storage_node/node/recordings.h"

namespace tapedeck::storage_node {
namespace {

// A manifest is read and written whole.
constexpr size_t kMaxAnnotations = 10'000;

}  // namespace

absl::StatusOr<std::vector<services::Capture>> RecorderService::TriggerRecording(
    const std::string& channel, const services::Trigger& trigger) {
  TD_ASSIGN_OR_RETURN(const ResourceName name, ParseChannelName(channel));
  TD_RETURN_IF_ERROR(FindChannel(parts_, name).status());
  std::vector<services::Capture> captures;
  for (const auto& port : parts_.triggers.Find(channel)) {
    auto capture = port->Fire(trigger);
    if (absl::IsUnavailable(capture.status())) continue;  // it ended meanwhile
    TD_RETURN_IF_ERROR(capture.status());
    captures.push_back(*std::move(capture));
  }
  if (!captures.empty()) return captures;
  return services::WithReason(
      absl::FailedPreconditionError(
          absl::StrCat(channel,
                       ": no session waits for a trigger; record into it, and make it with "
                       "--pre-trigger")),
      "CHANNEL_NOT_TRIGGERED", {{"channel", channel}});
}

absl::Status RecorderService::AnnotateRecording(const std::string& recording,
                                                const services::Annotation& annotation) {
  TD_ASSIGN_OR_RETURN(const FoundRecording found, FindRecording(parts_, recording));
  const auto live = parts_.live.Find(recording);
  if (live != nullptr && live->closed() == nullptr) {
    if (live->annotations().size() < kMaxAnnotations && live->Annotate(annotation)) {
      return absl::OkStatus();
    }
    return Busy(found, "is being closed, or has 10000 markers; try again");
  }
  return AnnotateClosed(recording, annotation);
}

absl::Status RecorderService::AnnotateClosed(const std::string& recording,
                                             const services::Annotation& annotation) {
  const auto lease = parts_.leases->TakeShared(recording);
  const absl::MutexLock lock(&parts_.rewriting);
  TD_ASSIGN_OR_RETURN(FoundRecording found, FindRecording(parts_, recording));
  if (lease == nullptr || found.manifest.state == services::RecordingState::kRecording ||
      found.manifest.annotations.size() >= kMaxAnnotations) {
    return Busy(found, "is being closed or deleted, or has 10000 markers; try again");
  }
  found.manifest.annotations.push_back(annotation);
  CallerLoop loop(*parts_.settings.clock);
  TD_ASSIGN_OR_RETURN(const auto files, found.lun->store->OpenRecording(found.path(), loop));
  TD_RETURN_IF_ERROR(Await<absl::Status>(loop, [&](auto done) {
    files->WriteManifest(format::EncodeManifest(found.manifest), std::move(done));
  }));
  return parts_.catalog->PutRecording(found.name, found.manifest);
}

}  // namespace tapedeck::storage_node
