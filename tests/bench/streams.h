// Recordings and playbacks of a store, each on an event loop, by the product's own writer and
// reader: blocks from memory that costs nothing, CRC32C made and checked, index and group commit
// on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "storage_node/store/store.h"

namespace tapedeck::bench {

// Of this process, so far.
double CpuSeconds();

// Runs on a loop until its step says kEnd or an error. Step is called at first and at every wake.
class Pump {
 public:
  using Step = std::function<absl::StatusOr<dataplane::Flow>()>;
  Pump(dataplane::EventLoop& loop, Step step) : loop_(loop), step_(std::move(step)) {}

  // Any thread.
  void Wake();
  void WakeAt(int64_t ns);
  absl::Status Wait() { return ended_.get_future().get(); }

 private:
  void Run();

  dataplane::EventLoop& loop_;
  const Step step_;
  bool done_ = false;
  std::promise<absl::Status> ended_;
};

struct StreamSettings {
  storage_node::store::Store* store = nullptr;
  storage_node::store::RecordingPath path;
  uint32_t members = 1;
  uint64_t block_bytes = 1 << 20;
  uint32_t slots = 128;     // of the ring, and blocks beyond what `commit` acknowledges
  uint64_t blocks = 0;      // to record; 0: until the deadline
  double blocks_per_s = 0;  // 0: as fast as it goes
  int64_t behind_ns = 0;    // of a follower
  std::shared_ptr<storage_node::follow::TailMemory>
      follow_memory;  // null: followers read the store
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
};

// Create, Begin, Wait.
class RecordStream {
 public:
  static absl::StatusOr<std::unique_ptr<RecordStream>> Create(StreamSettings settings,
                                                              dataplane::EventLoop& loop);
  ~RecordStream();

  // `deadline_ns` of the loop's clock; 0: none.
  void Begin(int64_t deadline_ns);
  // Until the recording is sealed.
  absl::Status Wait();
  uint64_t blocks() const { return next_; }
  int64_t elapsed_ns() const { return elapsed_ns_; }
  int64_t since_begin_ns() const { return loop_.clock().NowNs() - begin_ns_; }
  std::shared_ptr<storage_node::recording::LiveRecording> live() const { return live_; }
  const storage_node::format::Manifest& manifest() const { return manifest_; }

 private:
  RecordStream(StreamSettings settings, dataplane::EventLoop& loop);
  absl::StatusOr<dataplane::Flow> Step();
  bool Due();

  const StreamSettings settings_;
  dataplane::EventLoop& loop_;
  const std::shared_ptr<storage_node::recording::LiveRecording> live_ =
      std::make_shared<storage_node::recording::LiveRecording>();
  storage_node::format::Manifest manifest_;
  std::shared_ptr<dataplane::SlotPool> ring_;
  std::unique_ptr<storage_node::recording::RecordingWriter> writer_;
  Pump pump_;
  int64_t begin_ns_ = 0;
  int64_t deadline_ns_ = 0;
  std::atomic<bool> begun_ = false;
  int64_t elapsed_ns_ = 0;
  std::atomic<uint64_t> next_ = 0;
};

// Plays one recording, over and over until the deadline if there is one. Create, Begin, Wait.
class PlayStream {
 public:
  // `live`: of a recording that is being written, which is followed.
  static absl::StatusOr<std::unique_ptr<PlayStream>> Create(
      StreamSettings settings, storage_node::format::Manifest manifest,
      std::shared_ptr<storage_node::recording::LiveRecording> live, dataplane::EventLoop& loop);
  ~PlayStream();

  void Begin(int64_t deadline_ns);
  absl::Status Wait();
  uint64_t blocks() const { return blocks_; }
  // Of them, those of a recording that was followed and has ended.
  uint64_t blocks_from_memory() const { return blocks_from_memory_; }
  int64_t elapsed_ns() const { return elapsed_ns_; }

 private:
  PlayStream(StreamSettings settings, storage_node::format::Manifest manifest,
             std::shared_ptr<storage_node::recording::LiveRecording> live,
             dataplane::EventLoop& loop);
  // Has the files opened by a thread that may wait for the disk; OnOpened wakes the pump.
  void Open();
  void OnOpened(absl::StatusOr<std::unique_ptr<storage_node::store::RecordingFiles>> files);
  absl::StatusOr<dataplane::Flow> Step();

  const StreamSettings settings_;
  const storage_node::format::Manifest manifest_;
  const std::shared_ptr<storage_node::recording::LiveRecording> live_;
  dataplane::EventLoop& loop_;
  std::shared_ptr<dataplane::SlotPool> ring_;
  std::unique_ptr<services::TaskThread> opener_;
  bool opening_ = false;
  absl::Status open_error_;
  std::unique_ptr<storage_node::recording::RecordingReader> reader_;
  Pump pump_;
  int64_t begin_ns_ = 0;
  int64_t deadline_ns_ = 0;
  int64_t elapsed_ns_ = 0;
  std::atomic<uint64_t> blocks_ = 0;
  std::atomic<uint64_t> blocks_from_memory_ = 0;
};

}  // namespace tapedeck::bench
