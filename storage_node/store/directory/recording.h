// A recording in a directory: its index and manifest, through the page cache. How payload is moved
// is for the kinds of stores that derive from it.
#pragma once

#include <memory>

#include "storage_node/store/directory/open_files.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::directory {

// Lives on the executor it was opened for. One member: places and copies are always 0.
class DirectoryRecording : public store::RecordingFiles {
 public:
  DirectoryRecording(std::shared_ptr<OpenFiles> files, dataplane::Executor& executor)
      : files_(std::move(files)), mailbox_(std::make_shared<store::Mailbox>(executor)) {}
  ~DirectoryRecording() override { mailbox_->Close(); }

  void Flush(store::Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, store::Done done) override;
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t copy, uint64_t offset, store::Bytes bytes, store::Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, store::BytesRead done) override;
  void WriteManifest(std::string text, store::Done done) override;
  void ReadManifest(uint32_t copy, store::TextRead done) override;
  void OnLost(store::Done lost) override;

 protected:
  // Both are shared with operations under way.
  const std::shared_ptr<OpenFiles> files_;
  const std::shared_ptr<store::Mailbox> mailbox_;
};

}  // namespace tapedeck::storage_node::store::directory
