// A recording of a rados LUN. Many operations for payload are under way at a time. The store's
// threads do the rest.
#pragma once

#include <memory>

#include "storage_node/store/member_recording.h"
#include "storage_node/store/rados/stored.h"

namespace tapedeck::storage_node::store::rados {

class RadosRecording final : public MemberRecording<StoredRecording> {
 public:
  using MemberRecording::MemberRecording;

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;

 private:
  void CountAhead(uint64_t objects);

  uint64_t asked_for_ = 0;  // data objects
};

}  // namespace tapedeck::storage_node::store::rados
