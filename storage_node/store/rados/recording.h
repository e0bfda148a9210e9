// A recording of a rados LUN. Many operations for payload are under way at a time. The store's
// threads do the rest.
#pragma once

#include <memory>

#include "storage_node/store/lost.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/rados/stored.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::rados {

// Lives on the executor it was opened for. One member: places and copies are always 0.
class RadosRecording final : public RecordingFiles {
 public:
  // `lost`: set when another node was found to have the LUN.
  RadosRecording(std::shared_ptr<StoredRecording> stored, std::shared_ptr<Lost> lost,
                 dataplane::Executor& executor)
      : stored_(std::move(stored)),
        lost_(std::move(lost)),
        mailbox_(std::make_shared<Mailbox>(executor)) {}
  ~RadosRecording() override { mailbox_->Close(); }

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;
  void OnLost(Done lost) override;

 private:
  void CountAhead(uint64_t objects);

  // Shared with operations under way.
  const std::shared_ptr<StoredRecording> stored_;
  const std::shared_ptr<Lost> lost_;
  const std::shared_ptr<Mailbox> mailbox_;
  uint64_t asked_for_ = 0;  // data objects
};

}  // namespace tapedeck::storage_node::store::rados
