// The Source of a playback that continues into the next segment where one ends. It runs one reader
// after the other and numbers their blocks as one run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "dataplane/block/source.h"
#include "dataplane/executor/lifetime.h"

namespace tapedeck::storage_node::capture {

// Owned by the session; lives on its executor.
class StreamSource final : public dataplane::Source {
 public:
  // Makes the reader of a segment whose files are open, from its first block on. Once, on the
  // source's executor.
  using OpenReader = absl::AnyInvocable<std::unique_ptr<dataplane::Source>()>;
  using OnOpened = std::function<void(absl::StatusOr<OpenReader>)>;
  // Asks for the next segment; `opened` is called once on the source's executor, at once or later,
  // with null after the last.
  using Next = std::function<void(OnOpened opened)>;

  // `ahead`: each segment is asked for when the one before it begins to be played, and once more at
  // its end if there was none. Without it what is still growing is found.
  StreamSource(std::unique_ptr<dataplane::Source> first, bool ahead, Next next);

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
  void Ask();
  void OnNext(absl::StatusOr<OpenReader> opened);
  // At the end of a part. kMoved: the next one begins; kEnd: there is none.
  absl::StatusOr<dataplane::Flow> GoOn();

  const bool ahead_;
  const Next next_;
  dataplane::Waker waker_;
  // Never empty. All but the last have ended, and stay for blocks that are rejected.
  std::deque<Part> parts_;
  bool asking_ = false;
  bool asked_at_end_ = false;  // and not only ahead
  OpenReader opened_;          // of the next part; may be null
  absl::Status error_;         // of the last answer
  bool ended_ = false;
  dataplane::Lifetime lifetime_;
};

// What is gone between two segments: missing blocks. Lives on the executor of its StreamSource.
class GoneBlocks final : public dataplane::Source {
 public:
  // `blocks` of `block_samples` each, from `first_sample` on.
  GoneBlocks(uint64_t blocks, uint64_t first_sample, uint64_t block_samples)
      : blocks_(blocks), first_sample_(first_sample), block_samples_(block_samples) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  void SetWaker(dataplane::Waker /*waker*/) override {}
  void Acknowledge(uint64_t /*watermark*/) override {}
  absl::Status Reject(const dataplane::BlockHeader& header) override;

 private:
  const uint64_t blocks_;
  const uint64_t first_sample_;
  const uint64_t block_samples_;
  uint64_t next_ = 0;
};

}  // namespace tapedeck::storage_node::capture
