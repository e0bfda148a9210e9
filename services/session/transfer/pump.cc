#include "services/session/transfer/pump.h"

#include <atomic>
#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::services::session {

using dataplane::Flow;

namespace {

// Blocks moved before other work of the executor gets its turn.
constexpr int kTurn = 32;

}  // namespace

Pump::Pump(dataplane::Executor& executor, dataplane::Source& source, dataplane::Sink& sink,
           dataplane::CommitLevel commit, PumpEvents* events)
    : executor_(executor),
      source_(source),
      sink_(sink),
      commit_(commit),
      events_(events),
      scheduled_(std::make_shared<std::atomic<bool>>(false)) {
  const auto run = lifetime_.Guard([this] { Run(); });
  const auto wake = [scheduled = scheduled_, run, &executor = executor_] {
    if (!scheduled->exchange(true)) executor.Post(run);
  };
  source_.SetWaker(wake);
  sink_.SetWaker(wake);
}

void Pump::Start() {
  started_ = true;
  if (watch_ != nullptr) watch_->Started();
  Schedule();
}

void Pump::EndSource() {
  if (!source_ended_) SourceEnded();
  Schedule();
}

void Pump::Abort(const absl::Status& cause) {
  if (cause_.ok()) cause_ = cause;
  started_ = true;
  Schedule();
}

void Pump::Schedule() {
  if (!scheduled_->exchange(true)) executor_.Post(lifetime_.Guard([this] { Run(); }));
}

void Pump::Run() {
  *scheduled_ = false;
  if (!started_ || done_) return;
  if (watch_ != nullptr) watch_->RunBegan();
  for (int i = 0; cause_.ok(); ++i) {
    if (i == kTurn) {
      Schedule();
      break;
    }
    const absl::StatusOr<bool> moved = MoveOne();
    if (!moved.ok()) cause_ = moved.status();
    if (!moved.ok() || !*moved) break;
  }
  if (cause_.ok()) cause_ = sink_.status();
  source_.Acknowledge(sink_.watermarks().at(commit_));
  if (watch_ != nullptr) watch_->RunEnded(!block_.empty() || source_ended_);
  if (!cause_.ok() || (source_ended_ && block_.empty())) FinishSink();
}

// False when nothing more can move now.
absl::StatusOr<bool> Pump::MoveOne() {
  if (block_.empty()) {
    if (source_ended_) return false;
    TD_ASSIGN_OR_RETURN(const Flow flow, source_.Pull(&block_));
    if (flow == Flow::kEnd) SourceEnded();
    if (flow != Flow::kMoved) return false;
  }
  const dataplane::BlockHeader header = block_.header();
  TD_ASSIGN_OR_RETURN(const Flow flow, sink_.Push(&block_));
  if (flow == Flow::kEnd) {
    block_.Reset();
    SourceEnded();
  }
  if (flow != Flow::kMoved) return false;
  ++counts_.blocks;
  counts_.bytes += header.payload_bytes;
  constexpr uint32_t kNotWhole = dataplane::kBlockMissing | dataplane::kBlockDamaged;
  if ((header.flags & kNotWhole) != 0) ++counts_.missing;
  return true;
}

void Pump::SourceEnded() {
  source_ended_ = true;
  events_->OnSourceEnd(counts_.blocks + (block_.empty() ? 0 : 1));
}

void Pump::FinishSink() {
  if (!cause_.ok() && !block_.empty()) unmoved_ = std::move(block_);
  const absl::StatusOr<Flow> flow = sink_.Finish(cause_);
  if (!flow.ok() && cause_.ok()) {
    cause_ = flow.status();
    return Schedule();  // once more, so that the sink can close what it holds
  }
  if (flow.ok() && *flow != Flow::kEnd) return;
  done_ = true;
  source_.Acknowledge(sink_.watermarks().at(commit_));
  events_->OnPumpDone(cause_);
}

}  // namespace tapedeck::services::session
