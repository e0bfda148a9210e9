// The Source of a playback that goes on with the next segment where one ends: one reader after the
// other, and their blocks numbered as one run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/source.h"

namespace tapedeck::storage_node {

// Owned by the session; lives on its executor.
class StreamSource final : public dataplane::Source {
 public:
  // Gives the reader of the next segment, from its first block on; null after the last. Waits for
  // the disk.
  using Next = std::function<absl::StatusOr<std::unique_ptr<dataplane::Source>>()>;

  StreamSource(std::unique_ptr<dataplane::Source> first, Next next);

  // As the readers': in order, but for rejected blocks.
  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  void SetWaker(dataplane::Waker waker) override;
  void Acknowledge(uint64_t watermark) override;
  absl::Status Reject(const dataplane::BlockHeader& header) override;

 private:
  struct Part {
    uint64_t base = 0;    // of its blocks, in the run
    uint64_t blocks = 0;  // given
    std::unique_ptr<dataplane::Source> reader;
  };

  absl::StatusOr<dataplane::Flow> PullFrom(Part& part, dataplane::Block* block);

  const Next next_;
  dataplane::Waker waker_;
  // Never empty. All but the last have ended, and stay for blocks that are rejected.
  std::deque<Part> parts_;
  bool ended_ = false;
};

}  // namespace tapedeck::storage_node
