#include "storage_node/store/posix/recording.h"

#include <utility>

namespace tapedeck::storage_node::store::posix {

void PosixRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  files_->member().io().Run([files = files_, mailbox = mailbox_, place, block = std::move(block),
                             done = std::move(done)]() mutable {
    absl::Status status = files->WriteData(block.payload(), place.offset);
    if (status.ok()) block.Reset();
    mailbox->Post([status = std::move(status), block = std::move(block),
                   done = std::move(done)]() mutable { done(status, std::move(block)); });
  });
}

bool PosixRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                               BlockRead done) {
  std::optional<dataplane::Block> slot = ring.Take();
  if (!slot.has_value()) return false;
  slot->header().payload_bytes = bytes;
  files_->member().io().Run([files = files_, mailbox = mailbox_, place, block = std::move(*slot),
                             done = std::move(done)]() mutable {
    absl::Status status = files->ReadData(block.payload(), place.offset);
    absl::StatusOr<dataplane::Block> result =
        status.ok() ? absl::StatusOr<dataplane::Block>(std::move(block)) : std::move(status);
    mailbox->Post([result = std::move(result), done = std::move(done)]() mutable {
      done(std::move(result));
    });
  });
  return true;
}

}  // namespace tapedeck::storage_node::store::posix
