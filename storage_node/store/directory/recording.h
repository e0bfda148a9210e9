// A recording of a posix store: sends each operation to the threads of the members it touches and
// the completion home.
#pragma once

#include <memory>

#include "storage_node/store/mailbox.h"
#include "storage_node/store/posix/open_files.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::posix {

// Lives on the executor it was opened for.
class PosixRecording final : public RecordingFiles {
 public:
  PosixRecording(std::shared_ptr<OpenFiles> files, dataplane::Executor& executor)
      : files_(std::move(files)), mailbox_(std::make_shared<Mailbox>(executor)) {}
  ~PosixRecording() override { mailbox_->Close(); }

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  uint32_t index_copies() const override { return files_->index_copies(); }
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;

 private:
  const std::shared_ptr<OpenFiles> files_;  // shared with operations under way
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace tapedeck::storage_node::store::posix
