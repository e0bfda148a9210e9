#include "storage_node/store/direct/recording.h"

#include <algorithm>
#include <utility>

#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::direct {
namespace {

// Space is asked for so long before it is needed: no write waits for the file system's journal.
constexpr uint64_t kAheadBytes = 64 << 20;

// What a write carries from thread to thread.
struct Write {
  std::shared_ptr<EngineFile> data;
  std::shared_ptr<Mailbox> mailbox;
  uint64_t offset = 0;
  dataplane::Block block;
  BlockDone done;
};

void End(std::unique_ptr<Write> write, absl::Status status) {
  if (status.ok()) write->block.Reset();
  Mailbox& mailbox = *write->mailbox;
  // The file's last reference must go on this thread, where the engine still is.
  write->data = nullptr;
  mailbox.Post([write = std::move(write), status = std::move(status)]() mutable {
    write->done(status, std::move(write->block));
  });
}

void Start(std::unique_ptr<Write> write) {
  store::directory::OpenFiles& files = write->data->files();
  const auto bytes = engine::AlignedPayload(write->block, files.data_path());
  if (!bytes.ok()) return End(std::move(write), bytes.status());
  const size_t payload = write->block.payload().size();
  // A mirror writes one slot by two engines, and has zeros there: then neither changes it.
  const auto rest = bytes->subspan(payload);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (!std::ranges::all_of(rest, is_zero)) std::ranges::fill(rest, std::byte{0});
  engine::Engine& engine = write->data->engine();
  engine::Transfer transfer{
      .write = true, .fd = files.data_fd(), .bytes = *bytes, .offset = write->offset};
  transfer.done = [write = std::move(write)](int error, size_t /*moved*/) mutable {
    store::directory::OpenFiles& files = write->data->files();
    absl::Status status =
        error == 0 ? absl::OkStatus()
                   : disk::IoError("write", files.data_path(), files.member_path(), error);
    // Holds up the engine, for which the disk is too full anyway.
    if (absl::IsResourceExhausted(status) && files.member().spares().Release()) {
      return Start(std::move(write));
    }
    status = files.Ended(std::move(status));
    End(std::move(write), std::move(status));
  };
  engine.Start(std::move(transfer));
}

}  // namespace

// Space is given on the member's thread for blocking calls, because a file system may take its
// time.
void DirectRecording::ReserveAhead(uint64_t end) {
  if (end + kAheadBytes / 2 <= std::max(asked_for_, files_->reserved())) return;
  asked_for_ = end + kAheadBytes;
  // If there is none, the write that needs it will say so.
  files_->member().io().Run(
      [files = files_, to = asked_for_] { files->ReserveAhead(to).IgnoreError(); });
}

void DirectRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  auto write = std::make_unique<Write>(Write{.data = data_,
                                             .mailbox = mailbox_,
                                             .offset = place.offset,
                                             .block = std::move(block),
                                             .done = std::move(done)});
  const uint64_t end = place.offset + engine::AlignUp(write->block.payload().size());
  ReserveAhead(end);
  if (end <= files_->reserved()) return Start(std::move(write));
  files_->member().io().Run([write = std::move(write), end]() mutable {
    if (absl::Status status = write->data->files().ReserveData(end); !status.ok()) {
      return End(std::move(write), std::move(status));
    }
    Start(std::move(write));
  });
}

bool DirectRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                                BlockRead done) {
  std::optional<dataplane::Block> slot = ring.Take();
  if (!slot.has_value()) return false;
  slot->header().payload_bytes = bytes;
  const auto aligned = engine::AlignedPayload(*slot, files_->data_path());
  if (!aligned.ok() || bytes == 0) {
    absl::StatusOr<dataplane::Block> result =
        aligned.ok() ? absl::StatusOr<dataplane::Block>(*std::move(slot)) : aligned.status();
    mailbox_->Post([result = std::move(result), done = std::move(done)]() mutable {
      done(std::move(result));
    });
    return true;
  }
  engine::Transfer transfer{.fd = files_->data_fd(), .bytes = *aligned, .offset = place.offset};
  transfer.done = [data = data_, mailbox = mailbox_, offset = place.offset,
                   block = *std::move(slot),
                   done = std::move(done)](int error, size_t moved) mutable {
    const store::directory::OpenFiles& files = data->files();
    const uint64_t end = offset + block.payload().size();
    absl::StatusOr<dataplane::Block> result;
    if (error != 0) {
      result = disk::IoError("read", files.data_path(), files.member_path(), error);
    } else if (offset + moved < end) {
      result = files.EndsEarly(offset + moved, end);
    } else {
      result = std::move(block);
    }
    mailbox->Post([result = std::move(result), done = std::move(done)]() mutable {
      done(std::move(result));
    });
  };
  data_->engine().Start(std::move(transfer));
  return true;
}

}  // namespace tapedeck::storage_node::store::direct
