#include "storage_node/store/device/recording.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/mailbox.h"

namespace tapedeck::storage_node::store::device {
namespace {

// A thread of the device, for RunOn.
struct DeviceThread {
  Device& device;
  Device::Thread thread;
  void Run(dataplane::Task work) { device.Run(thread, std::move(work)); }
};

DeviceThread IoOf(const StoredRecording& stored) {
  return {.device = stored.device(), .thread = Device::Thread::kIo};
}

DeviceThread SyncOf(const StoredRecording& stored) {
  return {.device = stored.device(), .thread = Device::Thread::kSync};
}

// What a write carries from thread to thread.
struct Write {
  std::shared_ptr<StoredRecording> stored;
  std::shared_ptr<Mailbox> mailbox;
  uint64_t offset = 0;
  dataplane::Block block;
  BlockDone done;
};

// One transfer for each piece. `done` is called on a thread of the engine, with the first errno or
// 0, when all have ended.
void Transfer(engine::Engine& engine, engine::Transfer shape, const std::vector<Piece>& pieces,
              absl::AnyInvocable<void(int error)> done) {
  struct Join {
    std::atomic<size_t> left = 0;
    std::atomic<int> error = 0;
    absl::AnyInvocable<void(int error)> done;
  };
  auto join = std::make_shared<Join>();
  join->left = pieces.size();
  join->done = std::move(done);
  size_t begin = 0;
  for (const Piece& piece : pieces) {
    engine::Transfer transfer{.write = shape.write,
                              .fd = shape.fd,
                              .bytes = shape.bytes.subspan(begin, piece.bytes),
                              .offset = piece.offset};
    transfer.done = [join, wanted = piece.bytes](int error, size_t moved) {
      // The device ends before the units that its superblock promises.
      if (error == 0 && moved < wanted) error = EIO;
      int none = 0;
      if (error != 0) join->error.compare_exchange_strong(none, error);
      if (join->left.fetch_sub(1) == 1) join->done(join->error);
    };
    begin += piece.bytes;
    engine.Start(std::move(transfer));
  }
}

absl::Status TransferError(const StoredRecording& stored, const char* operation, uint64_t offset,
                           int error) {
  const std::string& path = stored.device().path();
  return disk::IoError(operation,
                       absl::StrCat(path, " at byte ", offset, " of recording ", stored.name()),
                       path, stored.device().MeaningOf(error));
}

void End(std::unique_ptr<Write> write, absl::Status status) {
  if (status.ok()) write->block.Reset();
  Mailbox& mailbox = *write->mailbox;
  mailbox.Post([write = std::move(write), status = std::move(status)]() mutable {
    write->done(status, std::move(write->block));
  });
}

void Start(std::unique_ptr<Write> write) {
  StoredRecording& stored = *write->stored;
  Device& device = stored.device();
  const auto bytes = engine::AlignedPayload(write->block, device.path());
  if (!bytes.ok()) return End(std::move(write), bytes.status());
  const auto pieces = stored.StartWrite(write->offset, bytes->size());
  if (!pieces.ok()) return End(std::move(write), pieces.status());
  const size_t payload = write->block.payload().size();
  std::fill(bytes->begin() + static_cast<ptrdiff_t>(payload), bytes->end(), std::byte{0});
  Transfer(device.engine(), {.write = true, .fd = device.fd(), .bytes = *bytes}, *pieces,
           [write = std::move(write)](int error) mutable {
             write->stored->EndWrite();
             absl::Status status;
             if (error != 0) status = TransferError(*write->stored, "write", write->offset, error);
             End(std::move(write), std::move(status));
           });
}

void Answer(const std::shared_ptr<Mailbox>& mailbox, absl::StatusOr<dataplane::Block> result,
            BlockRead done) {
  mailbox->Post(
      [result = std::move(result), done = std::move(done)]() mutable { done(std::move(result)); });
}

}  // namespace

// On the thread that waits for flushes, because a slot must be durable before its units are used.
void DeviceRecording::GrowAhead(uint64_t end) {
  const uint64_t room = std::max(asked_for_, stored_->room());
  const uint64_t step = StoredRecording::StepBytes(room);
  if (end + step / 2 <= room) return;
  asked_for_ = std::max(end, room) + step;
  // If there is none, the write that needs it will say so.
  stored_->device().Run(Device::Thread::kSync,
                        [stored = stored_, to = room + 1] { stored->GrowData(to).IgnoreError(); });
}

void DeviceRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  auto write = std::make_unique<Write>(Write{.stored = stored_,
                                             .mailbox = mailbox_,
                                             .offset = place.offset,
                                             .block = std::move(block),
                                             .done = std::move(done)});
  const uint64_t end = place.offset + engine::AlignUp(write->block.payload().size());
  GrowAhead(end);
  if (end <= stored_->room()) return Start(std::move(write));
  stored_->device().Run(Device::Thread::kSync, [write = std::move(write), end]() mutable {
    if (absl::Status status = write->stored->GrowData(end); !status.ok()) {
      return End(std::move(write), std::move(status));
    }
    Start(std::move(write));
  });
}

bool DeviceRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                                BlockRead done) {
  std::optional<dataplane::Block> slot = ring.Take();
  if (!slot.has_value()) return false;
  slot->header().payload_bytes = bytes;
  if (bytes == 0) {
    Answer(mailbox_, *std::move(slot), std::move(done));
    return true;
  }
  Device& device = stored_->device();
  const auto memory = engine::AlignedPayload(*slot, device.path());
  const auto pieces = stored_->FindData(place.offset, bytes);
  if (!memory.ok() || !pieces.ok()) {
    Answer(mailbox_, memory.ok() ? pieces.status() : memory.status(), std::move(done));
    return true;
  }
  Transfer(device.engine(), {.fd = device.fd(), .bytes = *memory}, *pieces,
           [stored = stored_, mailbox = mailbox_, offset = place.offset, block = *std::move(slot),
            done = std::move(done)](int error) mutable {
             if (error != 0) {
               return Answer(mailbox, TransferError(*stored, "read", offset, error),
                             std::move(done));
             }
             Answer(mailbox, std::move(block), std::move(done));
           });
  return true;
}

void DeviceRecording::Flush(Done done) {
  stored_->device().FlushSoon(
      [mailbox = mailbox_, lost = lost_, done = std::move(done)](absl::Status status) mutable {
        status.Update(lost->status());
        mailbox->Post([status, done = std::move(done)]() mutable { done(status); });
      });
}

// After the index operations that were called before, and after the writes that wait for room.
void DeviceRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  asked_for_ = 0;
  stored_->device().Run(
      Device::Thread::kIo, [stored = stored_, mailbox = mailbox_, bytes = data_bytes[0],
                            index_bytes, done = std::move(done)]() mutable {
        auto trim = [stored, bytes, index_bytes] { return stored->Trim(bytes, index_bytes); };
        RunOn(SyncOf(*stored), mailbox, std::move(trim), std::move(done));
      });
}

void DeviceRecording::WriteIndex(uint32_t /*copy*/, uint64_t offset, Bytes bytes, Done done) {
  auto write = [stored = stored_, offset, bytes = std::move(bytes)] {
    return stored->WriteIndex(bytes, offset);
  };
  RunOn(IoOf(*stored_), mailbox_, std::move(write), std::move(done));
}

void DeviceRecording::ReadIndex(uint32_t /*copy*/, uint64_t offset, size_t bytes, BytesRead done) {
  auto read = [stored = stored_, offset, into = Bytes(bytes)]() mutable -> absl::StatusOr<Bytes> {
    const absl::StatusOr<size_t> n = stored->ReadIndex(into, offset);
    if (!n.ok()) return n.status();
    into.resize(*n);
    return std::move(into);
  };
  RunOn(IoOf(*stored_), mailbox_, std::move(read), std::move(done));
}

void DeviceRecording::WriteManifest(std::string text, Done done) {
  auto write = [stored = stored_, lost = lost_, text = std::move(text)]() mutable {
    absl::Status status = lost->status();
    if (status.ok()) status = stored->WriteManifest(std::move(text));
    return status;
  };
  RunOn(SyncOf(*stored_), mailbox_, std::move(write), std::move(done));
}

void DeviceRecording::ReadManifest(uint32_t /*copy*/, TextRead done) {
  auto read = [stored = stored_] { return stored->ReadManifest(); };
  RunOn(SyncOf(*stored_), mailbox_, std::move(read), std::move(done));
}

}  // namespace tapedeck::storage_node::store::device
