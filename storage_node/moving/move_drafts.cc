#include "storage_node/moving/move_drafts.h"

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::moving {
namespace {

// Of one recording, in all channels together.
constexpr size_t kMaxCopies = 1024;

absl::Status RemoveDraft(recordings::Recordings& recordings, const catalog::ResourceName& name) {
  // One whose writer is gone without a word is closed on the way.
  const auto found = recordings.FindClosed(name.ToString());
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(found.status());
  if (found->manifest.state == services::RecordingState::kRecording) return absl::OkStatus();
  return recordings.Remove(name, *found->lun, "an interrupted move left it").status();
}

}  // namespace

bool IsDraft(const format::Manifest& manifest) {
  return !manifest.origin.move_draft.empty() && !manifest.kept;
}

bool IsWhole(const format::Manifest& copy, const format::Manifest& source) {
  return copy.state == services::RecordingState::kSealed && copy.blocks == source.blocks;
}

absl::StatusOr<std::vector<catalog::RecordingRow>> CopiesIn(
    recordings::Recordings& recordings, const recordings::FoundRecording& source,
    const catalog::ResourceName& channel) {
  TD_ASSIGN_OR_RETURN(const auto names,
                      recordings.catalog()->CopiesOf(source.name.ToString(), kMaxCopies));
  std::vector<catalog::RecordingRow> copies;
  for (const catalog::ResourceName& name : names) {
    if (name.lun != channel.lun || name.channel != channel.channel) continue;
    TD_ASSIGN_OR_RETURN(auto manifest, recordings.catalog()->GetRecording(name));
    if (!manifest.has_value()) continue;
    if (manifest->original_uid != source.manifest.identity.recording.ToString()) continue;
    copies.push_back({.name = name, .manifest = *std::move(manifest)});
  }
  return copies;
}

absl::Status RemoveDrafts(recordings::Recordings& recordings,
                          const recordings::FoundRecording& source,
                          const catalog::ResourceName& channel, Which which) {
  TD_ASSIGN_OR_RETURN(const auto copies, CopiesIn(recordings, source, channel));
  for (const catalog::RecordingRow& copy : copies) {
    if (!IsDraft(copy.manifest)) continue;
    if (which == Which::kUnfinished && IsWhole(copy.manifest, source.manifest)) continue;
    TD_RETURN_IF_ERROR(RemoveDraft(recordings, copy.name));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::moving
