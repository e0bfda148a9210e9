// Gives a playback's blocks to its sink, each when it is due, on a thread of its own: whoever makes
// them is not held up, and nothing but the sink is between the timer and a block.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "gpu_worker/pace/block_assembler.h"
#include "gpu_worker/pace/plan.h"
#include "gpu_worker/pace/schedule.h"
#include "gpu_worker/pace/timer.h"

namespace tapedeck::gpu_worker::pace {

struct PacerSettings {
  Plan plan;
  std::unique_ptr<BlockAssembler> assembler;
  std::unique_ptr<Timer> timer;
  // These are called on the pacer's thread. The sink's; what it answers ends all.
  std::function<absl::Status(const dataplane::BlockHeader&, std::span<const std::byte>)> give;
  // Once: no more blocks are needed.
  std::function<void()> on_sated;
  // Once, and last: all was given, it was stopped, or why not.
  std::function<void(const absl::Status&)> on_end;
};

// Any thread, but never destroyed on its own.
class Pacer {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Pacer>> Create(PacerSettings parts);
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;
  // Waits for the sink.
  ~Pacer();

  // In order. What comes after all was given is done at once.
  void Add(Arrived arrived) ABSL_LOCKS_EXCLUDED(mutex_);
  // No more will come; what has come is given first.
  void NoMore() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives nothing more.
  void Stop();

 private:
  explicit Pacer(PacerSettings parts) : parts_(std::move(parts)) {}

  // How it ended: all was given, or it was stopped or failed.
  enum class End { kNone, kAll, kCut };

  // The pacer's thread.
  void Run();
  absl::Status GiveAll();
  absl::Status TakeIn() ABSL_LOCKS_EXCLUDED(mutex_);
  // Sleeps until something comes, at most until then.
  void AwaitMore(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the first block may go; sleeps for a while if it may not.
  bool Start();
  // The same for any block. After a sleep the block goes at once.
  bool IsDue();
  absl::Status Give(const Piece& piece);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);

  PacerSettings parts_;
  std::atomic<bool> stop_ = false;

  absl::Mutex mutex_;
  std::deque<Arrived> arrived_ ABSL_GUARDED_BY(mutex_);
  bool last_arrived_ ABSL_GUARDED_BY(mutex_) = false;
  bool hungry_ ABSL_GUARDED_BY(mutex_) = false;  // sleeps until something comes
  End end_ ABSL_GUARDED_BY(mutex_) = End::kNone;

  // The pacer's thread only.
  bool ended_ = false;  // the assembler has all there is
  bool sated_ = false;
  size_t taken_ = 0;  // blocks
  int64_t first_taken_ns_ = 0;
  bool started_ = false;
  Schedule schedule_{0};
  uint64_t given_ = 0;  // samples

  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::pace
