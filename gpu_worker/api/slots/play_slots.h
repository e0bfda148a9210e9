// The slots of a player, in the order of the ring: the session fills them in the order of the
// recording, the program takes them and releases them, on streams or by itself; the proxy sees what
// was released and lets the session go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/block/block.h"
#include "dataplane/block/sink.h"
#include "dataplane/deadline.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slots/graph_claim.h"
#include "gpu_worker/api/slots/slot_control.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::api {

// Shared by the program's end, the proxy and the session's sink. Calls of the program may come from
// several threads, those of one stream from one at a time.
class PlaySlots final : public Watched {
 public:
  // The device outlives it.
  static absl::StatusOr<std::shared_ptr<PlaySlots>> Create(device::Device& device, size_t slots,
                                                           size_t block_bytes);

  // The next slot; whatever the stream does behind this finds a block there, or that there is none.
  // FAILED_PRECONDITION (ARGUMENT_INVALID) where the slot that is next was not released.
  absl::StatusOr<Slot> Next(device::StreamHandle stream);
  // The stream needs the slot no more. INVALID_ARGUMENT (ARGUMENT_INVALID): it was released, or is
  // none.
  absl::Status Release(device::StreamHandle stream, const Slot& slot);

  // The same without a stream: waits until a block is there; without data where none comes.
  // DEADLINE_EXCEEDED.
  absl::StatusOr<Slot> NextNow(dataplane::Deadline deadline);
  absl::Status ReleaseNow(const Slot& slot);

  // The session has ended, well or not; every stream that waits for a block that is not there goes
  // on. Any thread.
  void End(const absl::Status& status);
  absl::Status status() const;

  size_t slots() const { return control_->slots(); }
  size_t block_bytes() const { return block_bytes_; }
  SlotControl& control() { return *control_; }

  // Of the sink, on its executor.
  bool Put(dataplane::Block* block);
  void SetWaker(dataplane::Waker waker) ABSL_LOCKS_EXCLUDED(mutex_);
  void NoMore(const absl::Status& cause);
  uint64_t released() const { return released_.load(); }
  uint64_t put() const { return put_.load(); }

  bool Look() override;
  bool expects() const override { return graph_.any() || ended_ || asked_ > released_; }

 private:
  PlaySlots(device::Device& device, size_t block_bytes, size_t slots);

  // Which block a slot was taken for.
  struct Use {
    uint64_t number = 0;
    bool taken = false;
    bool on_stream = false;
  };

  absl::Status MakeBeside() ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::StatusOr<Slot> Enqueue(device::StreamHandle stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::Status CheckRelease(const Slot& slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  bool NextIsThere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  // What is there; where the device does not work in host memory its copy is only begun.
  absl::StatusOr<Slot> TakeNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::Status BeginCopy(size_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  std::byte* DeviceSlot(size_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  // A graph that takes or releases fewer slots than there are would meet others again in its second
  // launch.
  void CheckRound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SomeWereReleased() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool PutEnds() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  device::Device& device_;
  const size_t block_bytes_;
  std::unique_ptr<SlotControl> control_;

  // What the program has asked for.
  mutable absl::Mutex program_;
  std::unique_ptr<dataplane::Memory> beside_
      ABSL_GUARDED_BY(program_);  // on the host once it is needed
  std::vector<Use> uses_ ABSL_GUARDED_BY(program_);
  uint64_t next_ ABSL_GUARDED_BY(program_) = 0;
  GraphClaim graph_{{.owner = "player", .has = "played", .does = "takes"}};
  std::atomic<size_t> graph_slots_ = 0;     // that the graph takes
  std::atomic<size_t> graph_releases_ = 0;  // of them
  std::atomic<uint64_t> asked_ = 0;         // blocks that were taken without one

  // What is there; the executor puts, the proxy's thread lets go.
  mutable absl::Mutex mutex_;
  std::vector<dataplane::Block> held_ ABSL_GUARDED_BY(mutex_);  // by slot
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> put_ = 0;
  std::atomic<uint64_t> released_ = 0;
  std::atomic<bool> ended_ = false;  // nothing is put any more
};

// The end of the session that gives the blocks. On its executor.
class SlotSink final : public dataplane::Sink {
 public:
  explicit SlotSink(std::shared_ptr<PlaySlots> slots) : slots_(std::move(slots)) {}

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    return slots_->Put(block) ? dataplane::Flow::kMoved : dataplane::Flow::kNotNow;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override {
    slots_->NoMore(cause);
    return slots_->released() == slots_->put() || !cause.ok() ? dataplane::Flow::kEnd
                                                              : dataplane::Flow::kNotNow;
  }
  void SetWaker(dataplane::Waker waker) override { slots_->SetWaker(std::move(waker)); }
  // All three are what the program has released.
  dataplane::Watermarks watermarks() const override {
    const uint64_t released = slots_->released();
    return {released, released, released};
  }
  absl::Status status() const override { return slots_->status(); }

 private:
  const std::shared_ptr<PlaySlots> slots_;
};

}  // namespace tapedeck::gpu_worker::api
