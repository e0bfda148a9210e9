// A Source gives Blocks. Implemented by the GPU ring (record), the recording reader (playback) and
// the Receiver; decorated by checking, reordering, pacing.
#pragma once

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"

namespace tapedeck::dataplane {

// Lives on the executor of the session that pumps it.
class Source {
 public:
  virtual ~Source() = default;

  // kMoved: *block holds the next block, in any order unless the class says otherwise. kEnd: no
  // more. An error is final. The payload of a pulled block may be read until the block is
  // destroyed.
  virtual absl::StatusOr<Flow> Pull(Block* block) = 0;

  // Sets the waker for kNotNow. Called once, before the first Pull.
  virtual void SetWaker(Waker waker) = 0;

  // The consumer has every block below `watermark` at the session's commit level; never goes back.
  // A source that keeps blocks for re-sending drops them here.
  virtual void Acknowledge(uint64_t watermark) = 0;

  // The consumer found the block damaged and wants it again. A source that cannot answers with an
  // error, which ends the session.
  virtual absl::Status Reject(const BlockHeader& header) = 0;
};

}  // namespace tapedeck::dataplane
