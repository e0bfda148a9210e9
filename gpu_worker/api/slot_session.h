// One session of a recorder or a player, from its opening to its end: the same way that jobs of a
// worker take, with slots of a program at its end instead of a pipeline.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/executor.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slots/play_slots.h"
#include "gpu_worker/api/slots/record_slots.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "gpu_worker/transfer/session.h"
#include "services/model/seams/catalog.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::gpu_worker::api {

// Until blocks can move; a node that is busy with others answers within it.
inline constexpr absl::Duration kOpenTime = absl::Seconds(30);
// For the node to end the session, and as much again for streams that were told of slots, when a
// recorder or a player goes.
inline constexpr absl::Duration kCloseTime = absl::Seconds(5);

// What a session uses of its deck.
struct SlotEnvironment {
  dataplane::Executor* executor = nullptr;
  device::Device* device = nullptr;
  pipeline::MemoryLadder* ladder = nullptr;
  std::vector<dataplane::Transport*> rails;
  uint32_t connections_per_rail = 1;
  Proxy* proxy = nullptr;
  std::string name;                  // who records
  std::shared_ptr<const void> deck;  // what all this is of, for as long as the session; may be null
};

struct RecordingOrder {
  std::string node;     // HOST:PORT, for errors
  std::string channel;  // luns/{lun}/channels/{channel}
  uint32_t slots = 0;
  std::map<std::string, std::string> labels;
  int64_t resume_for_ns = 0;
};

struct PlayingOrder {
  std::string node;
  std::string recording;
  uint32_t slots = 0;
};

// Any thread, except where said. Shared by the program's end and the session.
class SlotSession final : public std::enable_shared_from_this<SlotSession> {
 public:
  // Asks the node, makes ring and slots and waits until blocks can move, at most until `deadline`.
  static absl::StatusOr<std::shared_ptr<SlotSession>> Record(
      const SlotEnvironment& environment, std::shared_ptr<services::StorageClient> storage,
      const RecordingOrder& order, dataplane::Deadline deadline);
  static absl::StatusOr<std::shared_ptr<SlotSession>> Play(
      const SlotEnvironment& environment, std::shared_ptr<services::StorageClient> storage,
      const PlayingOrder& order, dataplane::Deadline deadline);

  // One of them.
  const std::shared_ptr<RecordSlots>& record() const { return record_; }
  const std::shared_ptr<PlaySlots>& play() const { return play_; }
  const services::Recording& recording() const { return recording_; }  // that is played
  const std::vector<std::string>& notes() const { return notes_; }

  services::session::Snapshot snapshot() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits; false if it has not ended by then, or not so many blocks are committed.
  bool AwaitEnd(dataplane::Deadline deadline) const ABSL_LOCKS_EXCLUDED(mutex_);
  bool AwaitCommitted(uint64_t blocks, dataplane::Deadline deadline) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends it in order behind what was sent, waits for that and for the program's streams, and lets
  // go of all. What a stream or the node still holds by then is never given back, nor is its deck:
  // the log says so. Once; not on the executor.
  void Close(dataplane::Deadline deadline);

 private:
  SlotSession(const SlotEnvironment& environment, std::shared_ptr<services::StorageClient> storage)
      : environment_(environment), storage_(std::move(storage)) {}

  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(services::session::Direction way,
                                                                dataplane::TransferOp op,
                                                                uint32_t slots,
                                                                uint64_t block_bytes);
  absl::Status OpenRecording(const RecordingOrder& order, const services::Channel& channel);
  absl::Status OpenPlaying(const PlayingOrder& order);
  // Of the opened session: begins it and waits until it is up.
  absl::Status Start(services::session::ResumingSettings settings,
                     std::optional<services::Channel> channel, dataplane::Deadline deadline);
  // On the executor.
  void OnChange(const services::session::Snapshot& snapshot) ABSL_LOCKS_EXCLUDED(mutex_);
  // What of it is still in use at a close, if anything is.
  absl::Status EndAll(dataplane::Deadline deadline);
  Watched& watched() const;
  SlotControl& control() const;

  const SlotEnvironment environment_;
  const std::shared_ptr<services::StorageClient> storage_;
  std::shared_ptr<RecordSlots> record_;
  std::shared_ptr<PlaySlots> play_;
  services::Recording recording_;
  std::vector<std::string> notes_;
  std::unique_ptr<transfer::TransferSession> session_;  // the executor's, once it has begun

  mutable absl::Mutex mutex_;
  services::session::Snapshot last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::gpu_worker::api
