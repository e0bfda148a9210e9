#include "storage_node/node/recording_catalog.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/description.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/repair/verify.h"

namespace tapedeck::storage_node::node {
namespace {

// A running recording must not end because its manifest no longer fits: `after` is what it would
// say.
absl::Status CheckRoomFor(const services::Recording& after, store::Store& store) {
  TD_RETURN_IF_ERROR(services::model::CheckDescription(after.description, after.labels,
                                                       services::model::kRecordingLabels));
  const uint64_t room = store.extras().layout.description_bytes;
  const uint64_t bytes = services::model::WrittenBytes(after.description, after.labels) +
                         services::model::WrittenBytes(after.origin);
  if (bytes <= room) return absl::OkStatus();
  return services::LimitReached(
      absl::StrCat(room >> 10, " KiB"), "labels of a recording",
      absl::StrCat(after.name, ": its LUN's store has room for ", room >> 10,
                   " KiB of description and labels, and this change needs more; shorten them"));
}

services::Recording NotedIn(const std::string& name, const format::Manifest& manifest) {
  return {.name = name,
          .description = manifest.description,
          .labels = manifest.labels,
          .origin = manifest.origin};
}

}  // namespace

absl::StatusOr<services::Recording> RecordingService::GetRecording(const std::string& name) {
  TD_ASSIGN_OR_RETURN(recordings::FoundRecording found, recordings_.Find(name));
  if (recordings_.AwaitLeft({{.name = found.name, .manifest = found.manifest}})) {
    TD_ASSIGN_OR_RETURN(found, recordings_.Find(name));
  }
  return recordings_.Present({.name = found.name, .manifest = std::move(found.manifest)});
}

absl::StatusOr<std::vector<services::Recording>> RecordingService::RecordingsAfter(
    const std::string& parent, const services::RecordingKey& after, size_t most) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name,
                      catalog::ParseChannelName(parent, catalog::Wildcard::kAllowed));
  if (name.lun != "-") TD_RETURN_IF_ERROR(recordings_.luns().CheckExists(name.lun));
  if (name.lun != "-" && name.channel != "-")
    TD_RETURN_IF_ERROR(recordings_.FindChannel(name).status());
  catalog::RowKey place{.open_ns = after.open_time_ns};
  if (!after.name.empty()) {
    TD_ASSIGN_OR_RETURN(place.name, catalog::ParseRecordingName(after.name));
  }
  TD_ASSIGN_OR_RETURN(auto rows, recordings_.catalog()->RecordingsAfter(name, place, most));
  if (recordings_.AwaitLeft(rows)) {
    TD_ASSIGN_OR_RETURN(rows, recordings_.catalog()->RecordingsAfter(name, place, most));
  }
  std::vector<services::Recording> recordings;
  for (const catalog::RecordingRow& row : rows) recordings.push_back(recordings_.Present(row));
  return recordings;
}

absl::StatusOr<services::Recording> RecordingService::UpdateRecording(
    const services::RecordingUpdate& update) {
  TD_RETURN_IF_ERROR(services::model::CheckDescription(update.to.description, update.to.labels,
                                                       services::model::kRecordingLabels));
  const auto to_live = [&](const recordings::FoundRecording& found,
                           recording::LiveRecording& live) -> absl::StatusOr<bool> {
    return live.Describe(
        update, NotedIn(update.name, found.manifest),
        [&](const services::Recording& after) { return CheckRoomFor(after, *found.lun->store); });
  };
  const auto to_closed = [&](const recordings::FoundRecording& found, format::Manifest* manifest) {
    const absl::Status room =
        CheckRoomFor(services::Updated(NotedIn(update.name, *manifest), update), *found.lun->store);
    if (room.ok()) format::Describe(update, manifest);
    return room;
  };
  TD_ASSIGN_OR_RETURN(auto noted, recordings_.Note(update.name, to_live, to_closed));
  return recordings_.Present({.name = noted.name, .manifest = std::move(noted.manifest)});
}

absl::Status RecordingService::DeleteRecording(const std::string& name, const std::string& etag) {
  TD_ASSIGN_OR_RETURN(const recordings::FoundRecording found, recordings_.Find(name));
  bool changed = false;
  const auto is_meant = [&](const format::Manifest& now) {
    changed = format::EtagOf(now) != etag;
    return !changed;
  };
  TD_ASSIGN_OR_RETURN(const bool removed,
                      recordings_.Remove(found.name, *found.lun, "asked for",
                                         etag.empty() ? recordings::Recordings::MayGo()
                                                      : recordings::Recordings::MayGo(is_meant)));
  if (removed) return absl::OkStatus();
  if (changed) return recordings::Busy(found, "has changed since it was read; read it again");
  return recordings::Busy(found,
                          "is being written, played or moved; end that session first, or the "
                          "move_to of its channel");
}

absl::Status RecordingService::VerifyRecording(
    const std::string& name, const std::function<bool(const services::VerifyProgress&)>& report) {
  TD_ASSIGN_OR_RETURN(recordings::FoundRecording found, recordings_.Find(name));
  recordings_.AwaitLeft({{.name = found.name, .manifest = found.manifest}});
  const auto lease = recordings_.leases().TakeShared(name);
  if (lease == nullptr) return recordings::Busy(found, "is still being written");
  TD_ASSIGN_OR_RETURN(found, recordings_.Find(name));
  if (found.manifest.state == services::RecordingState::kRecording) {
    return recordings::Busy(found, "was not closed yet; try again");
  }
  return repair::VerifyBlocks(*found.lun->store, found.path(), found.manifest,
                              recordings_.luns().clock(), report);
}

}  // namespace tapedeck::storage_node::node
