#include "storage_node/recording/writing/open_manifest.h"

#include <utility>

namespace tapedeck::storage_node::recording {

void OpenManifest::Store() {
  if (storing_ || stopped_) return;
  storing_ = true;
  noted_ = false;
  const uint64_t changes = TakeNotes();
  manifest_.Advance();
  files_.WriteManifest(format::EncodeManifest(manifest_),
                       [this, changes](const absl::Status& status) { OnStored(changes, status); });
}

void OpenManifest::OnNoted() {
  noted_ = true;
  Store();
}

uint64_t OpenManifest::TakeNotes() {
  Notes notes = live_.notes();
  manifest_.annotations = std::move(notes.annotations);
  manifest_.kept = notes.kept;
  format::Describe(notes.described, &manifest_);
  return notes.changes;
}

void OpenManifest::OnStored(uint64_t changes, const absl::Status& status) {
  storing_ = false;
  stored_ = stored_ || status.ok();
  if (status.ok()) live_.SetNoted(changes);
  if (noted_) Store();
  on_stored_(status);
}

}  // namespace tapedeck::storage_node::recording
