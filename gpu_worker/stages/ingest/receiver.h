// Receives a stream on a thread of its own and makes blocks of it, as long as there are slots for
// them; what comes meanwhile waits in the kernel, and beyond that is lost, or with TCP not sent.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "dataplane/fd.h"
#include "dataplane/memory/slot_pool.h"
#include "gpu_worker/stages/ingest/counts.h"
#include "gpu_worker/stages/ingest/jumps.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/ingest/packet_source.h"
#include "gpu_worker/stages/ingest/placement.h"
#include "gpu_worker/stages/ingest/signal_marks.h"

namespace tapedeck::gpu_worker::stages::ingest {

struct ReceiverParts {
  std::unique_ptr<PacketReader> reader;
  std::unique_ptr<PacketSource> packet_source;  // goes first
  std::string address;                          // for errors
  std::shared_ptr<dataplane::SlotPool> slots;
  size_t block_bytes = 0;
  size_t sample_bytes = 0;
  double sample_rate = 0;      // of the channel; 0: unknown
  int64_t timeout_ns = 0;      // without samples
  bool silence_fails = false;  // also once samples have come
  // UTC: packets that come before are nobody's, unless they say themselves when their samples are
  // of; 0: all are taken.
  int64_t at_ns = 0;
  std::unique_ptr<SignalMarks> marks;  // what the packets tell of the signal
  // The sender's count has begun anew, as `told`; its samples go on at `position`. Receiving
  // thread.
  std::function<void(uint64_t position, int64_t told)> restarted;
  std::shared_ptr<Counts> counts;
};

// Owned by its source. The thread ends with the stream, with the first failure, or with the
// receiver.
class Receiver {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread or descriptor.
  static absl::StatusOr<std::unique_ptr<Receiver>> Create(ReceiverParts parts);
  ~Receiver();

  // Any thread. Called when Take has answered kNotNow and has something now.
  void SetWaker(dataplane::Waker waker);

  // kMoved: *placed, which is empty before, is the next of the stream. kEnd: that has ended. Errors
  // come behind what was there before: DEADLINE_EXCEEDED (SOURCE_SILENT), and those of the packet
  // source.
  absl::StatusOr<dataplane::Flow> Take(Placed* placed);

  // Once a block is there.
  std::optional<int64_t> begin_ns() const;
  // The stream ends with what has come. Any thread.
  void EndNow();

  // Once its last block is there: why the stream ended before its time.
  absl::Status status() const;

 private:
  Receiver(ReceiverParts parts, dataplane::Fd stop);

  // Receiving thread.
  void Run();
  absl::StatusOr<dataplane::Flow> ReadOnce();
  void OnPacket(std::span<const std::byte> bytes);
  void OnClockStep(int64_t told, double step_s);
  void NoteBegin();
  void NoteArrival(bool first);
  void NotePace();
  bool CameEarly(std::span<const std::byte> bytes) const;
  bool Await(int64_t deadline_ns);
  // What a silence as long as the timeout means.
  void EndSilent();
  absl::Status Silent() const;
  void EndWell(Ending ending);
  void End(const absl::Status& status);
  std::optional<dataplane::Block> TakeSlot();
  void Give(Placed placed);

  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const dataplane::SystemClock clock_;
  const ReceiverParts parts_;
  const dataplane::Fd stop_event_;

  mutable absl::Mutex mutex_;
  std::deque<Placed> placed_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // why, unless the stream has
  std::optional<int64_t> begin_ns_ ABSL_GUARDED_BY(mutex_);
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  bool hungry_ ABSL_GUARDED_BY(mutex_) = false;  // the last Take found nothing
  bool slot_free_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool end_now_ ABSL_GUARDED_BY(mutex_) = false;

  // Receiving thread only.
  Placement placement_;
  Jumps jumps_;
  bool begun_ = false;
  int64_t deadline_ns_ = 0;
  // When samples came first and last, and how many the first time.
  int64_t first_came_ns_ = 0;
  int64_t last_came_ns_ = 0;
  int64_t first_came_ = 0;
  std::optional<int64_t> end_;  // of the stream, once it has said so

  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::stages::ingest
