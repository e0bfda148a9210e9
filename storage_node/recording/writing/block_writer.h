// Writes the payloads of a recording to its files. It tries a failed write once more, but not if
// there is no space.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/block/block.h"
#include "dataplane/flight/stamp.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// The writer's, on the executor of `files`, which outlive it.
class BlockWriter {
 public:
  struct Terms {
    std::string recording;  // its name, for the log
    uint64_t block_bytes = 0;
    uint32_t members = 1;
    dataplane::flight::Trail trail;
  };
  using Done = std::function<void(const format::IndexEntry&, const absl::Status&)>;

  // `done` is called once for each block.
  BlockWriter(store::RecordingFiles& files, Terms terms, Done done)
      : files_(files), terms_(std::move(terms)), done_(std::move(done)) {}

  void Write(const format::IndexEntry& entry, dataplane::Block block);

  format::Place PlaceOf(uint64_t sequence) const {
    return format::PlaceOf(sequence, terms_.block_bytes, terms_.members);
  }
  bool idle() const { return under_way_ == 0; }

 private:
  void Try(const format::IndexEntry& entry, dataplane::Block block, bool again);
  void OnTried(const format::IndexEntry& entry, const absl::Status& status, dataplane::Block block,
               bool again);

  store::RecordingFiles& files_;
  const Terms terms_;
  const Done done_;
  size_t under_way_ = 0;
};

}  // namespace tapedeck::storage_node::recording
