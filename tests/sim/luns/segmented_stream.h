// A stream that a session records in segments. Its blocks come over two rails: in disorder, some
// twice, some without payload. The pump, the sink and all behind it are the product's own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dataplane/block/source.h"
#include "dataplane/executor/lifetime.h"
#include "services/session/transfer/pump.h"
#include "storage_node/capture/segment_sink.h"
#include "tests/sim/fired.h"
#include "tests/sim/luns/rails.h"
#include "tests/sim/luns/simulated_lun.h"
#include "tests/sim/luns/watched_sink.h"

namespace tapedeck::sim {

struct StreamPlan {
  uint64_t blocks = 0;
  uint64_t segment_blocks = 0;
  uint64_t block_bytes = 0;
  uint64_t window = 0;            // how far blocks overtake each other
  uint64_t lost_at = UINT64_MAX;  // after so many the peer is lost
  uint64_t turns_per_wake = 1;    // how slow the blocks come
  uint64_t trigger_blocks = 0;    // kept before a trigger, and as many after it
};

// One thread.
class SegmentedStream final : public dataplane::Source, public services::session::PumpEvents {
 public:
  // Makes the first segment; errors are those of SimulatedLun::Make. `triggers` runs what triggers
  // do. All outlive it.
  static absl::StatusOr<std::unique_ptr<SegmentedStream>> Create(SimulatedLun& lun,
                                                                 dataplane::Executor& triggers,
                                                                 const StreamPlan& plan,
                                                                 Fired* fired);

  void Turn();
  bool done() const { return done_; }
  // The number of its first segment.
  uint64_t id() const { return stream_; }
  // Once it is done. `sound`: no fault has hit the disk.
  void CheckEnd(bool sound);

  // What the peer has been told, in the ledger.
  void WriteDown();

  std::shared_ptr<storage_node::capture::TriggerPort> port() const { return port_; }
  // What a trigger has caught is all that it is about; what it keeps is in the ledger.
  void OnCaught(const storage_node::capture::Caught& caught);

 private:
  SegmentedStream(SimulatedLun& lun, const StreamPlan& plan, Fired* fired);
  storage_node::capture::TriggerWindow Window() const;
  absl::StatusOr<storage_node::capture::ArmedRecording> MakeSegment(uint64_t number);
  // At once or later, as it falls.
  void Prepare(uint64_t number, const storage_node::capture::OnPrepared& made);
  dataplane::BlockHeader HeaderOf(uint64_t sequence) const;
  bool ComesMissing(uint64_t sequence) const;
  void OnTaken(const dataplane::BlockHeader& header);
  // Which of its blocks with payload the sink has taken.
  std::set<uint64_t> TakenInto(const Take& take) const;
  // Whether the sink has dropped the block, which it has taken: there is no segment for it.
  bool IsDropped(uint64_t sequence) const;
  bool Touches(uint64_t sequence, const services::Capture& capture) const;
  void CheckSegment(const Take& take, bool sound);

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  void Acknowledge(uint64_t watermark) override;
  absl::Status Reject(const dataplane::BlockHeader&) override {
    return absl::InternalError("no sink rejects");
  }
  void OnSourceEnd(uint64_t) override {}
  void OnPumpDone(const absl::Status& cause) override;

  SimulatedLun& lun_;
  const StreamPlan plan_;
  Fired& fired_;
  Rails rails_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  dataplane::Waker waker_;
  bool asleep_ = false;  // the waker is to be called
  bool lost_ = false;
  std::optional<uint64_t> next_;
  uint64_t arrivals_ = 0;
  std::set<uint64_t> arrived_;  // also those in the pump's hand
  uint64_t stream_ = 0;
  std::deque<Take*> segments_;
  std::vector<services::Capture> captures_;
  uint64_t durable_ = 0;
  bool done_ = false;
  absl::Status result_;
  std::shared_ptr<storage_node::capture::TriggerPort> port_;
  std::unique_ptr<WatchedSink> sink_;
  std::optional<services::session::Pump> pump_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::sim
