// A recording whose parts lie on the members of a LUN: sends each operation to the members it
// touches.
#pragma once

#include <memory>
#include <vector>

#include "storage_node/format/index.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::stripe {

// Lives on the executor of its parts.
class StripedRecording final : public RecordingFiles {
 public:
  using Parts = std::vector<std::unique_ptr<RecordingFiles>>;  // one for each member
  explicit StripedRecording(Parts parts) : parts_(std::move(parts)) {}

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  uint32_t index_copies() const override;
  uint32_t manifest_copies() const override { return static_cast<uint32_t>(parts_.size()); }
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;
  void OnLost(Done lost) override;

 private:
  const Parts parts_;
};

}  // namespace tapedeck::storage_node::store::stripe
