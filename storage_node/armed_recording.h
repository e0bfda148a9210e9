// A recording that waits for its first block.
#pragma once

#include <memory>
#include <string>

#include "storage_node/live_recording.h"
#include "storage_node/recording_writer.h"

namespace tapedeck::storage_node {

struct ArmedRecording {
  std::string name;
  std::shared_ptr<LiveRecording> live;
  std::unique_ptr<RecordingWriter> writer;
};

}  // namespace tapedeck::storage_node
