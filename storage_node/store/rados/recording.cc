#include "storage_node/store/rados/recording.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/rados/lent_block.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// The head counts data objects so many at a time: a quarter of those there are, within these. A
// gigabyte of a long recording costs one small operation.
constexpr uint64_t kFewestAhead = 4;
constexpr uint64_t kMostAhead = 64;

// What a write carries from thread to thread.
struct BlockWrite {
  std::shared_ptr<StoredRecording> stored;
  std::shared_ptr<Mailbox> mailbox;
  Piece piece;
  LentBlock block;
  BlockDone done;
};

void EndBlock(std::unique_ptr<BlockWrite> write, absl::Status status) {
  write->stored->EndWrite();
  dataplane::Block block = write->block.Take();
  if (block.empty()) {
    dataplane::Log(
        dataplane::LogLevel::kWarning, "store/rados", "slot waits until librados lets go of it",
        {{"member", write->stored->parts().cluster.member()}, {"object", write->piece.object}});
  }
  if (status.ok()) block.Reset();
  Mailbox& mailbox = *write->mailbox;
  mailbox.Post([done = std::move(write->done), block = std::move(block),
                status = std::move(status)]() mutable { done(status, std::move(block)); });
}

// Blocks are written once, one after another, in whole: with all of these hints BlueStore keeps one
// checksum for a block, not one for each 4 KiB of it.
void HintAt(librados::ObjectWriteOperation& op, uint64_t object_bytes, size_t block_bytes) {
  op.set_alloc_hint2(
      object_bytes, block_bytes,
      librados::ALLOC_HINT_FLAG_SEQUENTIAL_WRITE | librados::ALLOC_HINT_FLAG_SEQUENTIAL_READ |
          librados::ALLOC_HINT_FLAG_APPEND_ONLY | librados::ALLOC_HINT_FLAG_INCOMPRESSIBLE);
}

void StartBlock(std::unique_ptr<BlockWrite> write);

// A block that librados still holds after an error is not given back, and is written again here.
void OnBlockTried(std::unique_ptr<BlockWrite> write, int result) {
  const StoreParts& parts = write->stored->parts();
  parts.cluster.shelf().Sweep();
  if (result >= 0) return EndBlock(std::move(write), absl::OkStatus());
  absl::Status status = parts.cluster.Error("write", write->piece.object, result);
  if (!write->block.held() || write->block.tries() > 1) {
    return EndBlock(std::move(write), std::move(status));
  }
  dataplane::Log(dataplane::LogLevel::kWarning, "store/rados", "write repeated",
                 {{"object", write->piece.object}, {"error", std::string(status.message())}});
  parts.io.Run([write = std::move(write)]() mutable { StartBlock(std::move(write)); });
}

void StartBlock(std::unique_ptr<BlockWrite> write) {
  librados::ObjectWriteOperation op;
  if (write->piece.offset == 0) {
    HintAt(op, write->stored->object_bytes(), write->block.payload_bytes());
  }
  op.write(write->piece.offset, write->block.Lend());
  Cluster& cluster = write->stored->parts().cluster;
  const std::string object = write->piece.object;
  cluster.Start(
      Cluster::Part::kPayload, object, op,
      [write = std::move(write)](int result) mutable { OnBlockTried(std::move(write), result); });
}

void AnswerBlock(const std::shared_ptr<Mailbox>& mailbox, absl::StatusOr<dataplane::Block> result,
                 BlockRead done) {
  mailbox->Post(
      [result = std::move(result), done = std::move(done)]() mutable { done(std::move(result)); });
}

// What a read carries from thread to thread.
struct BlockFetch {
  std::shared_ptr<StoredRecording> stored;
  std::shared_ptr<Mailbox> mailbox;
  Piece piece;
  dataplane::Block block;
  BlockRead done;
  librados::bufferlist bytes;
};

absl::StatusOr<dataplane::Block> FetchedBlock(BlockFetch& fetch, int result) {
  const Cluster& cluster = fetch.stored->parts().cluster;
  const std::span<std::byte> payload = fetch.block.payload();
  if (result < 0 && result != -ENOENT) return cluster.Error("read", fetch.piece.object, result);
  if (fetch.bytes.length() < payload.size()) {
    return disk::StoreIo(cluster.member(), "read",
                         absl::StrCat("read ", cluster.member(), " ", fetch.piece.object,
                                      ": ends at byte ", fetch.piece.offset + fetch.bytes.length(),
                                      ", not at ", fetch.piece.offset + payload.size()),
                         absl::StatusCode::kOutOfRange);
  }
  fetch.bytes.begin().copy(static_cast<unsigned>(payload.size()),
                           reinterpret_cast<char*>(payload.data()));
  return std::move(fetch.block);
}

void StartFetch(std::unique_ptr<BlockFetch> fetch) {
  Cluster& cluster = fetch->stored->parts().cluster;
  BlockFetch& raw = *fetch;
  cluster.StartRead(Cluster::Part::kPayload, raw.piece.object, raw.piece.offset, raw.piece.bytes,
                    &raw.bytes, [fetch = std::move(fetch)](int result) {
                      auto block = FetchedBlock(*fetch, result);
                      AnswerBlock(fetch->mailbox, std::move(block), std::move(fetch->done));
                    });
}

// An index write lies in one object, or in two.
struct IndexWrite {
  std::shared_ptr<StoredRecording> stored;
  std::shared_ptr<Mailbox> mailbox;
  uint64_t offset = 0;
  Bytes bytes;
  Done done;
  absl::Mutex mutex;
  size_t left ABSL_GUARDED_BY(mutex) = 1;  // operations, and who starts them
  absl::Status status ABSL_GUARDED_BY(mutex);
};

void EndIndex(const std::shared_ptr<IndexWrite>& write, const absl::Status& status) {
  absl::Status all;
  {
    absl::MutexLock lock(&write->mutex);
    write->status.Update(status);
    if (--write->left > 0) return;
    all = write->status;
  }
  write->stored->EndWrite();
  write->mailbox->Post([write, all]() mutable { write->done(all); });
}

void StartIndex(const std::shared_ptr<IndexWrite>& write) {
  const Bytes& bytes = write->bytes;
  size_t begin = 0;
  while (begin < bytes.size()) {
    const Piece piece = write->stored->IndexAt(write->offset + begin, bytes.size() - begin);
    librados::ObjectWriteOperation op;
    op.write(piece.offset,
             BufferOf({reinterpret_cast<const char*>(bytes.data()) + begin, piece.bytes}));
    begin += piece.bytes;
    {
      absl::MutexLock lock(&write->mutex);
      ++write->left;
    }
    Cluster& cluster = write->stored->parts().cluster;
    cluster.Start(
        Cluster::Part::kRest, piece.object, op,
        [write, &cluster, object = piece.object](int result) {
          EndIndex(write, result < 0 ? cluster.Error("write", object, result) : absl::OkStatus());
        });
  }
  EndIndex(write, absl::OkStatus());
}

}  // namespace

// Asked for when half of what was counted ahead is left, so that no write waits for it.
void RadosRecording::CountAhead(uint64_t objects) {
  const uint64_t counted = std::max(asked_for_, stored_->data_objects());
  const uint64_t step = std::clamp(counted / 4, kFewestAhead, kMostAhead);
  if (objects + step / 2 <= counted) return;
  asked_for_ = std::max(objects, counted) + step;
  // If that fails, the write that needs it will say so.
  StoredRecording::CountDataFor(stored_, asked_for_, [](const absl::Status&) {});
}

void RadosRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  const Piece piece = stored_->DataAt(place.offset, block.payload().size());
  const uint64_t objects = stored_->DataObjectsFor(place.offset);
  stored_->BeginWrite();
  auto write = std::make_unique<BlockWrite>(
      BlockWrite{.stored = stored_,
                 .mailbox = mailbox_,
                 .piece = piece,
                 .block = {std::move(block), stored_->parts().cluster.shelf()},
                 .done = std::move(done)});
  CountAhead(objects);
  const StoreParts& parts = stored_->parts();
  if (objects <= stored_->data_objects()) {
    parts.io.Run([write = std::move(write)]() mutable { StartBlock(std::move(write)); });
    return;
  }
  StoredRecording::CountDataFor(stored_, objects,
                                [write = std::move(write)](const absl::Status& status) mutable {
                                  if (!status.ok()) return EndBlock(std::move(write), status);
                                  StartBlock(std::move(write));
                                });
}

bool RadosRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                               BlockRead done) {
  std::optional<dataplane::Block> slot = ring.Take();
  if (!slot.has_value()) return false;
  slot->header().payload_bytes = bytes;
  if (bytes == 0) {
    AnswerBlock(mailbox_, *std::move(slot), std::move(done));
    return true;
  }
  auto fetch =
      std::make_unique<BlockFetch>(BlockFetch{.stored = stored_,
                                              .mailbox = mailbox_,
                                              .piece = stored_->DataAt(place.offset, bytes),
                                              .block = *std::move(slot),
                                              .done = std::move(done)});
  stored_->parts().io.Run([fetch = std::move(fetch)]() mutable { StartFetch(std::move(fetch)); });
  return true;
}

// Whatever has ended well is on the disks of every replica.
void RadosRecording::Flush(Done done) {
  absl::Status status = lost_->status();
  status.Update(stored_->parts().holding.status());
  mailbox_->Post([status, done = std::move(done)]() mutable { done(status); });
}

void RadosRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  asked_for_ = 0;
  auto trim = [stored = stored_, data = data_bytes[0], index_bytes] {
    return stored->Trim(data, index_bytes);
  };
  RunOn(stored_->parts().slow, mailbox_, std::move(trim), std::move(done));
}

void RadosRecording::WriteIndex(uint32_t /*copy*/, uint64_t offset, Bytes bytes, Done done) {
  auto write = std::make_shared<IndexWrite>();
  write->stored = stored_;
  write->mailbox = mailbox_;
  write->offset = offset;
  write->bytes = std::move(bytes);
  write->done = std::move(done);
  const uint64_t objects = StoredRecording::IndexObjectsFor(offset + write->bytes.size());
  stored_->BeginWrite();
  const StoreParts& parts = stored_->parts();
  if (objects <= stored_->index_objects()) {
    parts.io.Run([write] { StartIndex(write); });
    return;
  }
  parts.slow.Run([write, objects] {
    if (absl::Status status = write->stored->CountIndex(objects); !status.ok()) {
      return EndIndex(write, status);
    }
    StartIndex(write);
  });
}

void RadosRecording::ReadIndex(uint32_t /*copy*/, uint64_t offset, size_t bytes, BytesRead done) {
  auto read = [stored = stored_, offset, bytes] { return stored->ReadIndex(offset, bytes); };
  RunOn(stored_->parts().slow, mailbox_, std::move(read), std::move(done));
}

void RadosRecording::WriteManifest(std::string text, Done done) {
  auto write = [stored = stored_, lost = lost_, text = std::move(text)] {
    absl::Status status = lost->status();
    if (status.ok()) status = stored->WriteManifest(text);
    return status;
  };
  RunOn(stored_->parts().slow, mailbox_, std::move(write), std::move(done));
}

void RadosRecording::ReadManifest(uint32_t /*copy*/, TextRead done) {
  auto read = [stored = stored_] { return stored->ReadManifest(); };
  RunOn(stored_->parts().slow, mailbox_, std::move(read), std::move(done));
}

}  // namespace tapedeck::storage_node::store::rados
