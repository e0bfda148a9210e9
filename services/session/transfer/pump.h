// The Pump moves blocks from one Source to one Sink until the source ends or something fails. It is
// all that a session does with data: recording and playback differ only in what is put at its ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "dataplane/block/sink.h"
#include "dataplane/block/source.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/session/transfer/stage_watch.h"

namespace tapedeck::services::session {

class PumpEvents {
 public:
  virtual ~PumpEvents() = default;
  // The source has ended after `blocks` blocks; the sink still works on them.
  virtual void OnSourceEnd(uint64_t blocks) = 0;
  // Once and last: the sink is finished. `cause` is OK or the first thing that went wrong.
  virtual void OnPumpDone(const absl::Status& cause) = 0;
};

struct PumpCounts {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t missing = 0;  // blocks that came without payload
};

// On one executor, together with its ends and events.
class Pump {
 public:
  Pump(dataplane::Executor& executor, dataplane::Source& source, dataplane::Sink& sink,
       dataplane::CommitLevel commit, PumpEvents* events);

  void Start();

  // Takes no more from the source and finishes in order, as if it had ended.
  void EndSource();

  // Takes no more and closes the sink with `cause`. OnPumpDone follows.
  void Abort(const absl::Status& cause);

  // Told of each run. Before Start; outlives the pump.
  void SetWatch(StageWatch* watch) { watch_ = watch; }

  // What was moved before, by another pump of the same stream: counts() goes on from there. Before
  // Start.
  void CountBefore(const PumpCounts& moved) { counts_ = moved; }

  // Once it is done: a block that it pulled and the sink did not take, or none.
  dataplane::Block TakeUnmoved() { return std::move(unmoved_); }

  const PumpCounts& counts() const { return counts_; }

 private:
  void Schedule();
  void Run();
  absl::StatusOr<bool> MoveOne();
  void SourceEnded();
  void FinishSink();

  dataplane::Executor& executor_;
  dataplane::Source& source_;
  dataplane::Sink& sink_;
  const dataplane::CommitLevel commit_;
  PumpEvents* const events_;
  StageWatch* watch_ = nullptr;
  dataplane::Block block_;    // pulled, not yet taken by the sink
  dataplane::Block unmoved_;  // that one, when the pump has failed
  absl::Status cause_;
  bool started_ = false;
  bool source_ended_ = false;
  bool done_ = false;
  std::shared_ptr<std::atomic<bool>>
      scheduled_;  // shared with the wakers, which any thread may call
  PumpCounts counts_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::session
