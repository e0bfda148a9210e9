// The seams of a pipeline's stages. A stage belongs to one pipeline and is called on its work
// thread. Work on a device is enqueued on the pipeline's queue and not waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::stages {

// Room for one block on its way: where the network sees it and where the device works on it. Both
// are the same bytes where the device works in host memory.
struct Slot {
  uint64_t sequence = 0;
  std::span<std::byte> host;
  std::span<std::byte> device;
};

// How a source answers.
struct Filled {
  // kNotNow: nothing yet, and nothing was enqueued; the waker is called once there may be
  // something. kEnd: there is no block any more.
  dataplane::Flow flow = dataplane::Flow::kMoved;
  // Of the payload: less than the slot for the last block; 0: the block was lost on its way here.
  size_t bytes = 0;
  // When the first sample was captured, UTC, where the source knows better than by the clock now.
  std::optional<int64_t> capture_ns;
  absl::Status end;  // with the last block: why there are not more of them; OK: that was all
};

class SourceStage {
 public:
  virtual ~SourceStage() = default;

  // Where Fill leaves the payload: slot.host (at once, on the calling thread) or slot.device.
  virtual bool fills_host() const = 0;

  // Makes the payload of the next block, and never waits for it to come from elsewhere. Sequences
  // come in order, from 0 unless the job began late; after kNotNow the same one comes again.
  virtual absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& queue) = 0;

  // The stream shall end now. False: it does not end by itself, Fill is not to be called again.
  // True: Fill gives what has come, then kEnd. Work thread.
  virtual bool EndNow() { return false; }

  // Sets the waker for kNotNow; called once, before the first Fill, on another thread. A source
  // that never answers kNotNow needs none.
  virtual void SetWaker(dataplane::Waker /*waker*/) {}
};

class Transform {
 public:
  virtual ~Transform() = default;

  // Payloads come in whole granules; the pipeline fills up a last block with zeros.
  virtual size_t granule_bytes() const = 0;

  // Makes of a payload in memory of the device what its description says. `out` is exactly as
  // large as that: the same memory as `in` for a transform in place, else memory apart from it.
  // Both begin at multiples of 64 bytes. Bound to its pipeline's queue.
  virtual absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) = 0;

  // Of a transform that triggers: which samples of the payload of the oldest Apply not asked about,
  // which the device is done with, do. `first_sample` is that of the stream with which it begins.
  virtual std::optional<dataplane::Triggers> Find(uint64_t /*first_sample*/) {
    return std::nullopt;
  }
};

class SinkStage {
 public:
  virtual ~SinkStage() = default;

  // False: the payload never needs to come back from the device.
  virtual bool reads_payload() const = 0;

  // `payload` may be read until the call returns; it is empty for a block marked kBlockMissing.
  virtual absl::Status Consume(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) = 0;

  // After the last block. `cause` is OK at a regular end; then the answer judges the whole stream.
  virtual absl::Status Close(const absl::Status& cause) = 0;
};

}  // namespace tapedeck::gpu_worker::stages
