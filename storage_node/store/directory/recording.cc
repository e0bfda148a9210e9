#include "storage_node/store/directory/recording.h"

#include <utility>

#include "storage_node/store/mailbox.h"

namespace tapedeck::storage_node::store::directory {
void DirectoryRecording::Flush(store::Done done) {
  store::RunOn(
      files_->member().sync(), mailbox_, [files = files_] { return files->Sync(); },
      std::move(done));
}

void DirectoryRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes,
                              store::Done done) {
  store::RunOn(
      files_->member().io(), mailbox_,
      [files = files_, bytes = data_bytes[0], index_bytes] {
        return files->Trim(bytes, index_bytes);
      },
      std::move(done));
}

void DirectoryRecording::WriteIndex(uint32_t /*copy*/, uint64_t offset, store::Bytes bytes,
                                    store::Done done) {
  store::RunOn(
      files_->member().io(), mailbox_,
      [files = files_, offset, bytes = std::move(bytes)] {
        return files->WriteIndex(bytes, offset);
      },
      std::move(done));
}

void DirectoryRecording::ReadIndex(uint32_t /*copy*/, uint64_t offset, size_t bytes,
                                   store::BytesRead done) {
  store::RunOn(
      files_->member().io(), mailbox_,
      [files = files_, offset,
       into = store::Bytes(bytes)]() mutable -> absl::StatusOr<store::Bytes> {
        const absl::StatusOr<size_t> n = files->ReadIndex(into, offset);
        if (!n.ok()) return n.status();
        into.resize(*n);
        return std::move(into);
      },
      std::move(done));
}

void DirectoryRecording::WriteManifest(std::string text, store::Done done) {
  store::RunOn(
      files_->member().sync(), mailbox_,
      [files = files_, text = std::move(text)] {
        absl::Status status = files->SyncDirectories();
        status.Update(files->WriteManifest(text));
        return status;
      },
      std::move(done));
}

void DirectoryRecording::ReadManifest(uint32_t /*copy*/, store::TextRead done) {
  store::RunOn(
      files_->member().sync(), mailbox_, [files = files_] { return files->ReadManifest(); },
      std::move(done));
}

void DirectoryRecording::OnLost(store::Done lost) {
  files_->lost().OnSet([mailbox = mailbox_, lost = std::move(lost)](absl::Status why) mutable {
    mailbox->Post([why = std::move(why), lost = std::move(lost)]() mutable { lost(why); });
  });
}

}  // namespace tapedeck::storage_node::store::directory
