// The blocks of a closed recording, one after the other, each checked as a playback does. On the
// thread of a CallerLoop.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "dataplane/status_macros.h"
#include "services/copy/pump.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// What is damaged or missing comes as kBlockMissing. The caller has a lease on the recording. The
// loop outlives what is returned.
inline absl::StatusOr<services::copying::NextBlock> Read(const recordings::FoundRecording& found,
                                                         recording::CallerLoop& loop) {
  constexpr size_t kSlots = 8;
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->Open(found.path(), {}, loop));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      found.lun->store->MakeRing(
          {.slots = kSlots, .slot_bytes = found.manifest.block_bytes, .playback = true}));
  recording::ReaderOptions options{.name = found.name.ToString(),
                                   .manifest = found.manifest,
                                   .ring = std::move(ring),
                                   .meter = found.lun->meter};
  const auto reader =
      std::make_shared<recording::RecordingReader>(std::move(options), std::move(files), loop);
  reader->SetWaker([&loop] { loop.Post([] {}); });
  return [reader, &loop]() -> absl::StatusOr<std::optional<dataplane::Block>> {
    dataplane::Block block;
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    loop.RunUntil([&] {
      flow = reader->Pull(&block);
      return !flow.ok() || *flow != dataplane::Flow::kNotNow;
    });
    TD_RETURN_IF_ERROR(flow.status());
    if (*flow == dataplane::Flow::kEnd) return std::nullopt;
    return block;
  };
}

}  // namespace tapedeck::storage_node::moving
