// The slots of a recorder, in the order of the ring: the program acquires them, fills them and
// sends them, on streams or by itself; the proxy sees what was sent and gives it to the session.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/block/source.h"
#include "dataplane/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/memory/slot_pool.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slots/graph_claim.h"
#include "gpu_worker/api/slots/slot_control.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/outlet.h"
#include "gpu_worker/sockets/channel.h"

namespace tapedeck::gpu_worker::api {

struct RecordShape {
  size_t block_bytes = 0;
  size_t sample_bytes = 0;
};

// Shared by the program's end, the proxy and the session's source. Calls of the program may come
// from several threads, those of one stream from one at a time.
class RecordSlots final : public Watched {
 public:
  // `ring` is of MakeTransferRing; nobody else takes of it. Device and clock outlive it.
  static absl::StatusOr<std::shared_ptr<RecordSlots>> Create(
      device::Device& device, std::shared_ptr<dataplane::SlotPool> ring, const RecordShape& shape,
      const dataplane::Clock& clock);
  ~RecordSlots() override;

  // The next slot; whatever the stream does behind this finds it free. FAILED_PRECONDITION
  // (ARGUMENT_INVALID) where the slot that is next was acquired before and not sent since, as the
  // stream would wait for ever.
  absl::StatusOr<Slot> Acquire(device::StreamHandle stream);
  // What the stream has put there is the block. INVALID_ARGUMENT (ARGUMENT_INVALID): the slot was
  // not acquired or was sent already, or has no room for so much.
  absl::Status Send(device::StreamHandle stream, const Slot& slot, size_t bytes);

  // The same without a stream: waits until it is free. DEADLINE_EXCEEDED.
  absl::StatusOr<Slot> AcquireNow(dataplane::Deadline deadline);
  absl::Status SendNow(const Slot& slot, size_t bytes);

  // The slots are kernels' from here on, and neither streams' nor the host's. For a recorder that
  // has recorded nothing yet: INVALID_ARGUMENT (ARGUMENT_INVALID). Waits for the device, so that no
  // kernel that runs on and on may be under way; RESOURCE_EXHAUSTED.
  absl::StatusOr<sockets::Channel> GiveToKernels();

  // Waits until streams have sent all that they were told to by now, and the session has been given
  // it: so many blocks. ARGUMENT_INVALID where a slot before one that was sent was not.
  // DEADLINE_EXCEEDED.
  absl::StatusOr<uint64_t> AwaitSent(dataplane::Deadline deadline);
  // No slot is acquired any more, and the stream ends behind what was sent. Waits for the streams;
  // the same errors, after which it may be tried again.
  absl::Status Close(dataplane::Deadline deadline);
  // The same for a recorder that goes: the stream ends behind what has come in order by then.
  void CloseWith(dataplane::Deadline deadline);

  // The session has ended, well or not: every stream that waits goes on, and so do those that come
  // to wait. Any thread.
  void Fail(const absl::Status& status);
  absl::Status status() const;

  size_t slots() const { return control_->slots(); }
  size_t block_bytes() const { return shape_.block_bytes; }
  SlotControl& control() { return *control_; }
  uint64_t sent() const { return given_.load(); }

  // Source.
  pipeline::Outlet& outlet() { return outlet_; }

  bool Look() override;
  bool expects() const override;

 private:
  RecordSlots(device::Device& device, std::shared_ptr<dataplane::SlotPool> ring,
              const RecordShape& shape, const dataplane::Clock& clock);

  // Which block a slot was acquired for, by which stream, and whether it is to be sent yet.
  struct Use {
    uint64_t number = 0;
    bool acquired = false;
    device::StreamHandle stream = nullptr;
  };

  absl::Status MakeSlots();
  bool NextIsFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::StatusOr<Slot> Enqueue(device::StreamHandle stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  // One more than the highest block before which none is missing.
  uint64_t SentInOrder() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::Status CheckWhole() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  // Kernels and launches of a graph do not tell the CPU what they send: it shows in the flags only.
  bool ShowsInFlagsOnly() const { return graph_.any() || kernels_; }
  // Kernels acquire and commit nothing any more: `error` is an errno, of which the first stays.
  void EndChannel(int error);
  // Of kernels: that a slot was not committed and one behind it was. The proxy's thread.
  bool HasHole() const;
  // False if the session failed or it was not so far by then.
  bool AwaitGiven(uint64_t blocks, dataplane::Deadline deadline) const;
  void End() ABSL_LOCKS_EXCLUDED(program_);
  absl::Status CheckSend(const Slot& slot, size_t bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  absl::Status EnqueueSend(device::StreamHandle stream, size_t slot, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(program_);
  std::span<std::byte> DeviceSlot(size_t slot) const;
  std::span<std::byte> RingSlot(size_t slot) const;
  bool TakeBack();
  bool FreeAll();
  // A graph that sends fewer slots than it acquires would wait for itself.
  bool GraphIsWhole();
  void Give(size_t slot, uint64_t bytes);

  device::Device& device_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const RecordShape shape_;
  const dataplane::Clock& clock_;
  std::unique_ptr<dataplane::Memory> beside_;  // the device's slots; null: they are the ring's
  std::unique_ptr<SlotControl> control_;
  std::unique_ptr<dataplane::Memory> channel_;  // of kernels that have the slots; null: none have
  pipeline::Outlet outlet_;

  // What the program has asked for.
  mutable absl::Mutex program_;
  std::vector<Use> uses_ ABSL_GUARDED_BY(program_);
  uint64_t next_ ABSL_GUARDED_BY(program_) = 0;          // to be acquired
  uint64_t sent_ ABSL_GUARDED_BY(program_) = 0;          // of them
  uint64_t highest_sent_ ABSL_GUARDED_BY(program_) = 0;  // one more than the number
  bool partial_ ABSL_GUARDED_BY(program_) = false;       // the last block was sent
  bool closed_ ABSL_GUARDED_BY(program_) = false;        // nothing is acquired any more
  bool over_ ABSL_GUARDED_BY(program_) = false;          // nor sent
  std::atomic<size_t> round_;  // slots of one round: the ring's, or those of the graph
  GraphClaim graph_{{.owner = "recorder", .has = "recorded", .does = "acquires"}};
  std::atomic<bool> kernels_ = false;    // have the slots
  std::atomic<size_t> graph_sends_ = 0;  // slots of the graph that it sends
  std::atomic<uint64_t> asked_ = 0;      // blocks that streams were told to send

  // What has come of it; the proxy's thread.
  std::vector<dataplane::Block> free_;  // by slot; empty: the network has it
  std::atomic<uint64_t> given_ = 0;
  std::atomic<uint64_t> back_ = 0;  // of them, those whose slots are free again
  std::atomic<uint64_t> idle_looks_ = 0;
  std::atomic<bool> hole_ = false;     // at the last idle look
  std::atomic<bool> returned_ = true;  // slots have come back to the ring
  std::atomic<bool> failed_ = false;
  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// The end of the session that takes the blocks. On its executor.
class SlotSource final : public dataplane::Source {
 public:
  explicit SlotSource(std::shared_ptr<RecordSlots> slots) : slots_(std::move(slots)) {}
  ~SlotSource() override { slots_->outlet().Close(); }

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    return slots_->outlet().Pull(block);
  }
  void SetWaker(dataplane::Waker waker) override { slots_->outlet().SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t /*watermark*/) override {}
  // DATA_LOSS (BLOCK_DAMAGED): the program may have filled the slot anew.
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return pipeline::NoOtherCopy(header);
  }

 private:
  const std::shared_ptr<RecordSlots> slots_;
};

}  // namespace tapedeck::gpu_worker::api
