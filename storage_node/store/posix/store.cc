#include "storage_node/store/posix/store.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/store/directory/recording.h"
#include "storage_node/store/directory/store.h"

namespace tapedeck::storage_node::store::posix {
namespace {

// pread(2) and pwrite(2) on the member's I/O thread. Lives on the executor it was opened for.
class PosixRecording final : public store::directory::DirectoryRecording {
 public:
  using DirectoryRecording::DirectoryRecording;

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
};

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

absl::StatusOr<std::unique_ptr<Store>> Make(std::unique_ptr<store::directory::Member> member) {
  const auto open = [](std::shared_ptr<store::directory::OpenFiles> files,
                       dataplane::Executor& executor) {
    return std::make_unique<PosixRecording>(std::move(files), executor);
  };
  return store::directory::MakeStore(std::move(member), {.open = open});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto made, store::directory::Member::Create(lun, member));
  return Make(std::move(made));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto opened, store::directory::Member::Open(lun, member));
  return Make(std::move(opened));
}

}  // namespace tapedeck::storage_node::store::posix
