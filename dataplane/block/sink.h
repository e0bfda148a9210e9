// A Sink takes Blocks. The recording writer (record), the GPU ring (playback) and the Sender
// implement it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"

namespace tapedeck::dataplane {

// Lives on the executor of the session that pumps it.
class Sink {
 public:
  virtual ~Sink() = default;

  // kMoved: the block was taken and *block is empty. kNotNow: *block is untouched. kEnd: the sink
  // wants no more (e.g. the consumer is satisfied); *block is untouched. An error is final; *block
  // may be lost.
  virtual absl::StatusOr<Flow> Push(Block* block) = 0;

  // No more blocks will come. `cause` is OK at a regular end, else why the stream was cut short:
  // the sink then keeps what it holds and closes it. kNotNow: call again after the waker; kEnd:
  // everything taken is at the commit level. May be called again with the same meaning; never
  // followed by Push.
  virtual absl::StatusOr<Flow> Finish(const absl::Status& cause) = 0;

  // Before Finish: the stream ends in order, and before its source did. What the sink keeps of it
  // may say `why`.
  virtual void EndEarly(const std::string& /*why*/) {}

  // Sets the waker for kNotNow and for new watermarks. Called once, before the first Push.
  virtual void SetWaker(Waker waker) = 0;

  // What has been taken, contiguously from sequence 0.
  virtual Watermarks watermarks() const = 0;

  // Not OK once the sink has failed by itself, between calls; the waker is called then. Whoever
  // pumps must look: with all its acknowledgements outstanding a peer may send nothing more to
  // push.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

}  // namespace tapedeck::dataplane
