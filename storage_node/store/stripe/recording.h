// A recording whose parts lie on the members of a LUN: sends each operation to the members it
// touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
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

// What stands for a member that has nothing of a recording, which somebody has removed there: the
// other members' blocks are still worth having.
// Reads of a payload fail with `why`, as beyond the end of a file. What every copy is to say, the
// copies on the other members say alone. Lives on its executor.
class AbsentPart final : public RecordingFiles {
 public:
  // `why`: OUT_OF_RANGE (STORE_IO), naming the member.
  AbsentPart(absl::Status why, dataplane::Executor& executor)
      : why_(std::move(why)), executor_(executor) {}

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override { Answer(std::move(done), absl::OkStatus()); }
  void Trim(std::vector<uint64_t> /*data_bytes*/, uint64_t /*index_bytes*/, Done done) override {
    Answer(std::move(done), absl::OkStatus());
  }
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t /*copy*/, uint64_t /*offset*/, Bytes /*bytes*/, Done done) override {
    Answer(std::move(done), absl::OkStatus());
  }
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string /*text*/, Done done) override {
    Answer(std::move(done), absl::OkStatus());
  }
  // NOT_FOUND, as where none was ever written.
  void ReadManifest(uint32_t copy, TextRead done) override;

 private:
  template <typename Callback, typename Result>
  void Answer(Callback done, Result result) {
    executor_.Post(lifetime_.Guard([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    }));
  }

  const absl::Status why_;
  dataplane::Executor& executor_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::store::stripe
