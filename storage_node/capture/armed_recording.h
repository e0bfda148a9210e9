// A recording that waits for its first block, and how a session gets one: its files are made where
// that may take time, its writer on the session's executor.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/writing/recording_writer.h"

namespace tapedeck::storage_node::capture {

struct ArmedRecording {
  std::string name;
  std::shared_ptr<recording::LiveRecording> live;
  std::unique_ptr<recording::RecordingWriter> writer;
};

// Gives the recording whose files are made its writer. Once, on the session's executor. If it is
// never called the recording goes again.
using ArmRecording = absl::AnyInvocable<ArmedRecording()>;

using OnPrepared = std::function<void(absl::StatusOr<ArmRecording>)>;

}  // namespace tapedeck::storage_node::capture
