#include "storage_node/store/posix/recording.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::storage_node::store::posix {
namespace {

// Ends an operation that runs on several members: the first error, after the last member. Any
// thread.
class Join {
 public:
  Join(uint32_t members, std::shared_ptr<Mailbox> mailbox, Done done)
      : left_(members), mailbox_(std::move(mailbox)), done_(std::move(done)) {}

  void Arrive(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    status_.Update(status);
    if (--left_ > 0) return;
    mailbox_->Post([done = std::move(done_), status = status_]() mutable { done(status); });
  }

 private:
  absl::Mutex mutex_;
  uint32_t left_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<Mailbox> mailbox_;
  Done done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void PosixRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  files_->member(place.member)
      .io()
      .Run([files = files_, mailbox = mailbox_, place, block = std::move(block),
            done = std::move(done)]() mutable {
        absl::Status status = files->WriteData(place.member, block.payload(), place.offset);
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
  files_->member(place.member)
      .io()
      .Run([files = files_, mailbox = mailbox_, place, block = std::move(*slot),
            done = std::move(done)]() mutable {
        absl::Status status = files->ReadData(place.member, block.payload(), place.offset);
        absl::StatusOr<dataplane::Block> result =
            status.ok() ? absl::StatusOr<dataplane::Block>(std::move(block)) : std::move(status);
        mailbox->Post([result = std::move(result), done = std::move(done)]() mutable {
          done(std::move(result));
        });
      });
  return true;
}

void PosixRecording::Flush(Done done) {
  const auto join = std::make_shared<Join>(files_->members(), mailbox_, std::move(done));
  for (uint32_t m = 0; m < files_->members(); ++m) {
    files_->member(m).sync().Run([files = files_, join, m] { join->Arrive(files->SyncMember(m)); });
  }
}

void PosixRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  const auto join = std::make_shared<Join>(files_->members(), mailbox_, std::move(done));
  for (uint32_t m = 0; m < files_->members(); ++m) {
    files_->member(m).io().Run([files = files_, join, m, bytes = data_bytes[m], index_bytes] {
      join->Arrive(files->TrimMember(m, bytes, index_bytes));
    });
  }
}

void PosixRecording::WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) {
  files_->member(copy).io().Run([files = files_, mailbox = mailbox_, copy, offset,
                                 bytes = std::move(bytes), done = std::move(done)]() mutable {
    absl::Status status = files->WriteIndex(copy, bytes, offset);
    mailbox->Post([status = std::move(status), done = std::move(done)]() mutable { done(status); });
  });
}

void PosixRecording::ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) {
  files_->member(copy).io().Run([files = files_, mailbox = mailbox_, copy, offset,
                                 into = Bytes(bytes), done = std::move(done)]() mutable {
    const absl::StatusOr<size_t> n = files->ReadIndex(copy, into, offset);
    if (n.ok()) into.resize(*n);
    absl::StatusOr<Bytes> result = n.ok() ? absl::StatusOr<Bytes>(std::move(into)) : n.status();
    mailbox->Post([result = std::move(result), done = std::move(done)]() mutable {
      done(std::move(result));
    });
  });
}

void PosixRecording::WriteManifest(std::string text, Done done) {
  const auto join = std::make_shared<Join>(files_->members(), mailbox_, std::move(done));
  for (uint32_t m = 0; m < files_->members(); ++m) {
    files_->member(m).sync().Run([files = files_, join, m, text] {
      absl::Status status = files->SyncDirectories(m);
      if (m < files->index_copies()) status.Update(files->WriteManifest(m, text));
      join->Arrive(status);
    });
  }
}

void PosixRecording::ReadManifest(uint32_t copy, TextRead done) {
  files_->member(copy).sync().Run(
      [files = files_, mailbox = mailbox_, copy, done = std::move(done)]() mutable {
        mailbox->Post([result = files->ReadManifest(copy), done = std::move(done)]() mutable {
          done(std::move(result));
        });
      });
}

}  // namespace tapedeck::storage_node::store::posix
