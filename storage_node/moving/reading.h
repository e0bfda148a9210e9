// The blocks of a closed recording, one after the other, each checked as a playback does. On the
// thread of a CallerLoop.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/block.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/recording_reader.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// Outlives its blocks' use, not the loop. The caller has a lease on the recording.
class Reading {
 public:
  static absl::StatusOr<std::unique_ptr<Reading>> Begin(const recordings::FoundRecording& found,
                                                        recording::CallerLoop& loop) {
    TD_ASSIGN_OR_RETURN(auto files, found.lun->store->OpenRecording(found.path(), loop));
    TD_ASSIGN_OR_RETURN(
        auto ring,
        found.lun->store->MakeRing(
            {.slots = kSlots, .slot_bytes = found.manifest.block_bytes, .playback = true}));
    recording::ReaderOptions options{.name = found.name.ToString(),
                                     .manifest = found.manifest,
                                     .ring = std::move(ring),
                                     .meter = found.lun->meter};
    std::unique_ptr<Reading> reading(new Reading(loop));
    reading->reader_ =
        std::make_unique<recording::RecordingReader>(std::move(options), std::move(files), loop);
    reading->reader_->SetWaker([&loop] { loop.Post([] {}); });
    return reading;
  }

  // Empty at the end. What is damaged or missing comes as kBlockMissing.
  absl::StatusOr<dataplane::Block> Next() {
    dataplane::Block block;
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    loop_.RunUntil([&] {
      flow = reader_->Pull(&block);
      return !flow.ok() || *flow != dataplane::Flow::kNotNow;
    });
    TD_RETURN_IF_ERROR(flow.status());
    return block;
  }

 private:
  static constexpr size_t kSlots = 8;
  explicit Reading(recording::CallerLoop& loop) : loop_(loop) {}

  recording::CallerLoop& loop_;
  std::unique_ptr<recording::RecordingReader> reader_;
};

}  // namespace tapedeck::storage_node::moving
