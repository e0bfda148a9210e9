#include "services/session/transfer/data_path.h"

#include <algorithm>
#include <utility>

namespace tapedeck::services::session {

dataplane::RemoteAccess AccessFor(TransferOp op, bool sending) {
  if (op == TransferOp::kRead && sending) return dataplane::RemoteAccess::kRead;
  if (op == TransferOp::kWrite && !sending) return dataplane::RemoteAccess::kWrite;
  return dataplane::RemoteAccess::kNone;
}

DataPath::DataPath(dataplane::Executor& executor, const DataPathSettings& settings, TransferEnd end,
                   PumpEvents* events)
    : settings_(settings), end_(std::move(end)) {
  dataplane::Source* source = end_.source.get();
  dataplane::Sink* sink = end_.sink.get();
  if (source != nullptr) {
    sender_ = std::make_unique<dataplane::Sender>(
        executor, dataplane::SenderSettings{.op = settings.op,
                                            .peer_slots = settings.peer_slots,
                                            .slot_bytes = settings.block_bytes,
                                            .trail = settings.trail,
                                            .first = settings.first_block,
                                            .given = end_.given});
    sink = sender_.get();
  } else {
    receiver_ = std::make_unique<dataplane::Receiver>(executor, settings.op, end_.ring,
                                                      settings.trail, settings.first_block);
    source = receiver_.get();
    if (end_.check_payload) {
      checked_ = std::make_unique<dataplane::CheckedSource>(*receiver_, UseCrc(), settings.trail);
      source = checked_.get();
    }
    if (settings.ordered) {
      ordered_ = std::make_unique<dataplane::OrderedSource>(*source);
      source = ordered_.get();
    }
  }
  if (settings.trace != nullptr && settings.trace->recording()) {
    traced_ = std::make_unique<TracedSource>(*source, executor.clock(), *settings.trace);
    source = traced_.get();
  }
  pump_ = std::make_unique<Pump>(executor, *source, *sink, settings.commit, events);
  if (sender_ != nullptr) {
    watch_ = WatchSending(executor.clock(), *sender_, end_.ring->slots());
  } else {
    watch_ = WatchReceiving(executor.clock(), {.receiver = receiver_.get(),
                                               .sink = end_.sink.get(),
                                               .arrivals = arrivals_.get(),
                                               .commit = settings.commit,
                                               .peer_slots = settings.peer_slots});
  }
  pump_->SetWatch(watch_.get());
  pump_->CountBefore(end_.moved);
}

// What checks the payloads.
dataplane::PayloadCrc& DataPath::UseCrc() {
  if (end_.payload_crc != nullptr) return *end_.payload_crc;
  arrivals_ = end_.arrivals != nullptr ? end_.arrivals : std::make_shared<dataplane::ArrivalCrcs>();
  return *arrivals_;
}

Leftover DataPath::TakeLeftover() {
  Leftover left{.end = std::move(end_), .blocks = sender_->TakeUnacknowledged()};
  if (dataplane::Block unmoved = pump_->TakeUnmoved(); !unmoved.empty()) {
    left.blocks.push_back(std::move(unmoved));
  }
  return left;
}

dataplane::LinkEvents* DataPath::links() {
  return sending() ? static_cast<dataplane::LinkEvents*>(sender_.get()) : receiver_.get();
}

void DataPath::SetTotal(const EndOfStream& end) {
  total_ = end.blocks;
  if (!end.cause.empty()) end_.sink->EndEarly(end.cause);
  receiver_->SetTotal(end.blocks);
}

void DataPath::AddTo(Known& known) const {
  known.block_bytes = settings_.block_bytes;
  known.total = total_;
  if (sending()) {
    known.sent = std::max(pump_->counts().blocks, end_.given);
  } else {
    known.arrived = receiver_->received_watermark();
  }
}

StageTimes DataPath::stage_times() const {
  StageTimes times = watch_->Times();
  if (end_.stage_times) model::Add(end_.stage_times(), times);
  return times;
}

Progress DataPath::progress() const {
  Progress progress{.blocks = pump_->counts().blocks, .bytes = pump_->counts().bytes};
  if (sending()) {
    progress.watermarks = sender_->watermarks();
    progress.counters = sender_->counters();
  } else {
    progress.watermarks = end_.sink->watermarks();
    progress.watermarks.received = receiver_->received_watermark();
    progress.counters = receiver_->counters();
    if (checked_ != nullptr) progress.counters += checked_->counters();
  }
  return progress;
}

}  // namespace tapedeck::services::session
