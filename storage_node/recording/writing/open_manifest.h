// The manifest of a recording under way. The writer stores it when the recording begins, and again
// with each note that others add.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// The writer's, on its executor; `manifest`, `live` and `files` outlive it.
class OpenManifest {
 public:
  // `on_stored` is called after each write.
  OpenManifest(format::Manifest& manifest, LiveRecording& live, store::RecordingFiles& files,
               std::function<void(const absl::Status&)> on_stored)
      : manifest_(manifest), live_(live), files_(files), on_stored_(std::move(on_stored)) {}

  // With the notes that have come; one write at a time.
  void Store();
  // More have come.
  void OnNoted();
  // From now on it is not written here any more.
  void Stop() { stopped_ = true; }

  // A write is under way.
  bool storing() const { return storing_; }
  // It has been written: without it recovery would not find the recording.
  bool stored() const { return stored_; }

  // Into the manifest; returns how many changes they are.
  uint64_t TakeNotes();

 private:
  void OnStored(uint64_t changes, const absl::Status& status);

  format::Manifest& manifest_;
  LiveRecording& live_;
  store::RecordingFiles& files_;
  const std::function<void(const absl::Status&)> on_stored_;
  bool storing_ = false;
  bool stored_ = false;
  bool noted_ = false;  // since the write under way was begun
  bool stopped_ = false;
};

}  // namespace tapedeck::storage_node::recording
