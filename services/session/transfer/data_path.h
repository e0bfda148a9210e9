// The data side of a session at one end: Sender or Receiver with its decorators, and the Pump
// between it and the node's source or sink.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/ladder/ring_fit.h"
#include "dataplane/memory/slot_pool.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transfer/checked_source.h"
#include "dataplane/transfer/link.h"
#include "dataplane/transfer/ordered_source.h"
#include "dataplane/transfer/receiver.h"
#include "dataplane/transfer/sender.h"
#include "services/session/protocol/check.h"
#include "services/session/protocol/messages.h"
#include "services/session/transfer/pump.h"
#include "services/session/transfer/session_trace.h"
#include "services/session/transfer/stage_watch.h"
#include "services/session/transfer/traced_source.h"

namespace tapedeck::services::session {

// The node's end of a transfer: exactly one of source (its blocks lie in the ring) and sink (its
// blocks come from the ring).
struct TransferEnd {
  std::unique_ptr<dataplane::Source> source;
  std::unique_ptr<dataplane::Sink> sink;
  std::shared_ptr<dataplane::SlotPool> ring;
  // Whether arriving payloads are checked against their CRC32C. False only where nobody keeps them:
  // a bench that measures the way without the check.
  bool check_payload = true;
  // The ring on the session's rails, if it has been registered already.
  dataplane::ladder::Registration registration;
  // Reaches the ring's memory where the processor does not; null: that is host memory. Of a sink's
  // end only.
  std::shared_ptr<dataplane::PayloadCrc> payload_crc;
  // Of host memory: the check values of what arrives, shared with a sink that keeps them; null: it
  // does not.
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;
  // What the source or sink has spent its time on, any time; null: it does not say.
  std::function<StageTimes()> stage_times;
  PumpCounts moved;    // by earlier sessions of the same stream
  uint64_t given = 0;  // to them, of its blocks: the peer may have more than it asks for
};

// What is left of the end of a transfer that was lost. Members are moved on; blocks go before their
// ring.
struct Leftover {
  TransferEnd end;
  std::vector<dataplane::Block> blocks;  // that the peer has not acknowledged, in order
};

struct DataPathSettings {
  TransferOp op = TransferOp::kRead;
  CommitLevel commit = CommitLevel::kDurable;
  uint32_t peer_slots = 0;
  uint64_t block_bytes = 0;
  bool ordered = false;      // the sink wants blocks in order
  uint64_t first_block = 0;  // of a recording that goes on: the first that the storage node needs
  dataplane::flight::Trail trail;
  SessionTrace* trace = nullptr;  // outlives the data path; null: nobody is told of slow blocks
};

// What the peer may do to the window of an end.
dataplane::RemoteAccess AccessFor(TransferOp op, bool sending);

// On the session's executor.
class DataPath {
 public:
  DataPath(dataplane::Executor& executor, const DataPathSettings& settings, TransferEnd end,
           PumpEvents* events);

  bool sending() const { return sender_ != nullptr; }
  dataplane::LinkEvents* links();
  // What the links bring of what arrives; null: nothing is checked, or not by the processor.
  const std::shared_ptr<dataplane::ArrivalCrcs>& arrivals() const { return arrivals_; }
  dataplane::MemoryWindow window() const { return end_.ring->window(); }
  dataplane::ladder::Registration TakeRegistration() { return std::move(end_.registration); }

  void Start() { pump_->Start(); }
  void EndSource() { pump_->EndSource(); }
  void Abort(const absl::Status& cause) { pump_->Abort(cause); }

  // Sending end, when the pump is done and no link touches memory: what another transfer needs to
  // go on. Then this one goes.
  Leftover TakeLeftover();

  // Receiving end: how many blocks there are, and why not more, where the source had more.
  void SetTotal(const EndOfStream& end);

  // What the peer's next message is checked against.
  void AddTo(Known& known) const;

  // Without rails and verifier.
  Progress progress() const;
  // Of this end.
  StageTimes stage_times() const;
  uint64_t missing_blocks() const { return pump_->counts().missing; }

 private:
  dataplane::PayloadCrc& UseCrc();

  const DataPathSettings settings_;
  TransferEnd end_;
  std::unique_ptr<dataplane::Sender> sender_;
  std::unique_ptr<dataplane::Receiver> receiver_;
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals_;
  std::unique_ptr<dataplane::CheckedSource> checked_;
  std::unique_ptr<dataplane::OrderedSource> ordered_;
  std::unique_ptr<TracedSource> traced_;
  std::unique_ptr<StageWatch> watch_;
  std::unique_ptr<Pump> pump_;
  std::optional<uint64_t> total_;
};

}  // namespace tapedeck::services::session
