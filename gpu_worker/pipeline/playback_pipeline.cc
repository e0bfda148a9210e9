#include "gpu_worker/pipeline/playback_pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pipeline/nvtx/range.h"

namespace tapedeck::gpu_worker::pipeline {

using dataplane::Block;
using dataplane::Flow;
using dataplane::flight::Kind;

absl::StatusOr<std::unique_ptr<PlaybackPipeline>> PlaybackPipeline::Create(PlaybackPlan plan) {
  std::optional<pace::PacerSettings> pace = std::exchange(plan.pace, std::nullopt);
  auto tasks = std::make_shared<services::TaskQueue>();
  TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create("td-play", tasks));
  const bool cut = pace.has_value() && pace->plan.range.has_value();
  const uint64_t end_sample = cut ? pace->plan.range->end : UINT64_MAX;
  std::unique_ptr<PlaybackPipeline> pipeline(
      new PlaybackPipeline(std::move(plan), end_sample, std::move(tasks), std::move(thread)));
  if (pace.has_value()) TD_RETURN_IF_ERROR(pipeline->StartPacer(*std::move(pace)));
  return pipeline;
}

PlaybackPipeline::PlaybackPipeline(PlaybackPlan plan, uint64_t end_sample,
                                   std::shared_ptr<services::TaskQueue> tasks,
                                   std::unique_ptr<services::TaskThread> thread)
    : plan_(std::move(plan)),
      end_sample_(end_sample),
      tasks_(std::move(tasks)),
      thread_(std::move(thread)) {}

absl::Status PlaybackPipeline::StartPacer(pace::PacerSettings parts) {
  parts.give = [this](const dataplane::BlockHeader& header, std::span<const std::byte> payload) {
    return plan_.sink->Consume(header, payload);
  };
  parts.on_sated = [this] { sated_ = true; };
  parts.on_end = [this, tasks = tasks_](const absl::Status& status) {
    tasks->Post([this, status] { OnPacerEnd(status); });
  };
  TD_ASSIGN_OR_RETURN(pacer_, pace::Pacer::Create(std::move(parts)));
  return absl::OkStatus();
}

void PlaybackPipeline::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

absl::StatusOr<Flow> PlaybackPipeline::Push(Block* block) {
  {
    absl::MutexLock lock(&mutex_);
    if (!status_.ok()) return status_;
  }
  if (sated_ || covered_.value_or(0) >= end_sample_) return Flow::kEnd;
  Cover(block->header());
  if (plan_.times != nullptr) block->header().capture_ns = plan_.times->Of(block->header());
  tasks_->Post([this, taken = std::move(*block)]() mutable { Begin(std::move(taken)); });
  return Flow::kMoved;
}

// As RangeAssembler counts them: the index of a block that is missing may be so, too.
void PlaybackPipeline::Cover(const dataplane::BlockHeader& header) {
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  const uint64_t first = missing ? covered_.value_or(header.sample_index) : header.sample_index;
  const uint64_t bytes = missing ? plan_.block_bytes : header.payload_bytes;
  covered_ = first + bytes * plan_.block_samples / plan_.block_bytes;
}

absl::StatusOr<Flow> PlaybackPipeline::Finish(const absl::Status& cause) {
  // A stream that has ended may still be cut short: what a Pacer holds takes its time.
  const bool first = !std::exchange(finishing_, true);
  const bool cut = !cause.ok() && !std::exchange(cut_, true);
  if (first || cut) tasks_->Post([this, cause] { OnFinish(cause); });
  absl::MutexLock lock(&mutex_);
  if (!closed_) return Flow::kNotNow;
  if (!status_.ok()) return status_;
  return Flow::kEnd;
}

void PlaybackPipeline::OnFinish(const absl::Status& cause) {
  last_pushed_ = true;
  cause_.Update(cause);
  // It may hold what the blocks that are still under way wait for.
  if (!cause.ok() && pacer_ != nullptr) pacer_->Stop();
  CloseIfDone();
}

dataplane::Watermarks PlaybackPipeline::watermarks() const {
  absl::MutexLock lock(&mutex_);
  const uint64_t consumed = consumed_.mark();
  return {.received = consumed, .written = consumed, .durable = consumed};
}

// What else is pushed already may go to the device together with it.
void PlaybackPipeline::Begin(Block block) {
  waiting_.push_back(std::move(block));
  if (plan_.work->at_once() == 1) return StartWaiting();
  if (std::exchange(start_posted_, true)) return;
  tasks_->Post([this] {
    start_posted_ = false;
    StartWaiting();
  });
}

// Those of full size; another one goes alone.
size_t PlaybackPipeline::Together() const {
  const size_t most = std::min(plan_.work->at_once(), waiting_.size());
  size_t blocks = 0;
  while (blocks < most) {
    const dataplane::BlockHeader& header = waiting_[blocks].header();
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    if (missing || header.payload_bytes != plan_.block_bytes) break;
    ++blocks;
  }
  return std::max<size_t>(blocks, 1);
}

void PlaybackPipeline::StartWaiting() {
  while (!waiting_.empty()) {
    const size_t blocks = Together();
    const std::span<std::byte> memory = waiting_.front().memory();  // none if it is missing
    std::optional<GpuRing::Loan> loan =
        plan_.work->Lend(memory.first(std::min(memory.size(), plan_.block_bytes)), blocks);
    if (!loan.has_value()) return;  // a completion comes back here
    Underway underway{.loan = *std::move(loan)};
    for (size_t i = 0; i < blocks; ++i) {
      underway.blocks.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    Start(std::move(underway));
  }
}

void PlaybackPipeline::Start(Underway underway) {
  const NvtxRange range(Kind::kConsume);
  StageMeter& meter = plan_.work->meter();
  meter.Sample(plan_.work->queue(), underway.blocks.front().header().sequence);
  meter.Begin();
  for (const Block& block : underway.blocks) {
    plan_.trail.Stamp(Kind::kConsume, {.sequence = block.header().sequence});
  }
  absl::Status status = failed() ? absl::OkStatus() : Process(underway);
  meter.End(StageStep::kGpu);
  meter.OnDevice(++underway_);
  plan_.work->queue().Then([this, tasks = tasks_, trail = plan_.trail,
                            underway = std::move(underway),
                            enqueued = std::move(status)](absl::Status done) mutable {
    for (const Block& block : underway.blocks) {
      trail.Stamp(Kind::kComputed, {.sequence = block.header().sequence});
    }
    enqueued.Update(done);
    tasks->Post([this, underway = std::move(underway), status = std::move(enqueued)]() mutable {
      Complete(std::move(underway), std::move(status));
    });
  });
}

absl::Status PlaybackPipeline::Process(Underway& underway) {
  const bool to_host = plan_.sink->reads_payload();
  if (underway.blocks.size() > 1) {
    return plan_.work->EnqueueTogether(underway.loan, underway.blocks, to_host);
  }
  dataplane::BlockHeader& header = underway.blocks.front().header();
  if ((header.flags & dataplane::kBlockMissing) != 0) return absl::OkStatus();
  if (header.payload_bytes > plan_.block_bytes) {
    return absl::InternalError(absl::StrCat("Push: block ", header.sequence, " has ",
                                            header.payload_bytes, " bytes, the channel's have ",
                                            plan_.block_bytes));
  }
  TD_ASSIGN_OR_RETURN(const size_t payload,
                      plan_.work->Enqueue(underway.loan, header.payload_bytes,
                                          /*from_host=*/!plan_.work->direct(), to_host));
  header.payload_bytes = static_cast<uint32_t>(payload);
  return absl::OkStatus();
}

void PlaybackPipeline::Complete(Underway underway, absl::Status status) {
  const NvtxRange range(Kind::kConsumed);
  StageMeter& meter = plan_.work->meter();
  meter.OnDevice(--underway_);
  for (size_t i = 0; status.ok() && !failed() && i < underway.blocks.size(); ++i) {
    status = plan_.work->CheckCopied(underway.loan, i, underway.blocks[i].header());
  }
  if (!status.ok()) Fail(status);
  if (giving() && !failed()) return HandToPacer(std::move(underway));
  meter.Begin();
  size_t consumed = 0;
  if (pacer_ == nullptr) {
    consumed = failed() ? 0 : Consume(underway);
  } else if (cause_.ok() && !failed()) {
    consumed = underway.blocks.size();  // the Pacer has what it needs, and takes the rest unseen
  }
  meter.End(StageStep::kSink);
  Release(std::move(underway), consumed);
  CloseIfDone();
}

void PlaybackPipeline::Release(Underway underway, size_t consumed) {
  std::vector<uint64_t> sequences;
  for (const Block& block : std::span(underway.blocks).first(consumed)) {
    sequences.push_back(block.header().sequence);
  }
  underway = {};  // the slots are free before the watermark says so
  for (const uint64_t sequence : sequences) {
    plan_.trail.Stamp(Kind::kConsumed, {.sequence = sequence});
  }
  if (consumed > 0) Consumed(sequences);
  StartWaiting();
}

void PlaybackPipeline::HandToPacer(Underway underway) {
  // The device is done with its side; where that is the network's, the sink reads the other.
  if (!plan_.work->direct()) underway.loan.slot.Reset();
  const dataplane::BlockHeader header = underway.blocks.front().header();
  const std::span<const std::byte> payload = PayloadOf(underway, 0);
  // Also of a block that the Pacer lets go of without a word.
  ++handed_;
  auto gone = absl::MakeCleanup([this, tasks = tasks_] {
    tasks->Post([this] {
      --handed_;
      CloseIfDone();
    });
  });
  pacer_->Add({.header = header,
               .payload = payload,
               .done = [this, tasks = tasks_, underway = std::move(underway),
                        gone = std::move(gone)]() mutable {
                 tasks->Post([this, underway = std::move(underway)]() mutable {
                   Release(std::move(underway), failed() ? 0 : 1);
                 });
               }});
  StartWaiting();
  CloseIfDone();
}

void PlaybackPipeline::OnPacerEnd(const absl::Status& status) {
  pacer_ended_ = true;
  if (!status.ok()) Fail(status);
  StartWaiting();
  CloseIfDone();
}

std::span<const std::byte> PlaybackPipeline::PayloadOf(const Underway& underway,
                                                       size_t block) const {
  const dataplane::BlockHeader& header = underway.blocks[block].header();
  if ((header.flags & dataplane::kBlockMissing) != 0) return {};
  if (underway.blocks.size() > 1) return underway.blocks[block].payload();
  return underway.loan.stage.host.first(header.payload_bytes);
}

size_t PlaybackPipeline::Consume(const Underway& underway) {
  for (size_t i = 0; i < underway.blocks.size(); ++i) {
    const absl::Status status =
        plan_.sink->Consume(underway.blocks[i].header(), PayloadOf(underway, i));
    if (status.ok()) continue;
    Fail(status);
    return i;
  }
  return underway.blocks.size();
}

void PlaybackPipeline::CloseIfDone() {
  if (!last_pushed_ || underway_ != 0 || !waiting_.empty()) return;
  if (giving()) return pacer_->NoMore();  // and comes back here
  if (handed_ != 0) return;               // some are on their way to their watermark
  if (std::exchange(sink_closed_, true)) return;
  absl::Status status = [this] {
    absl::MutexLock lock(&mutex_);
    return status_;
  }();
  status.Update(cause_);
  const absl::Status closed = plan_.sink->Close(status);
  absl::MutexLock lock(&mutex_);
  status_.Update(closed);
  closed_ = true;
  if (waker_) waker_();
}

void PlaybackPipeline::Consumed(std::span<const uint64_t> sequences) {
  absl::MutexLock lock(&mutex_);
  for (const uint64_t sequence : sequences) consumed_.Add(sequence);
  if (waker_) waker_();
}

void PlaybackPipeline::Fail(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  status_.Update(status);
  if (waker_) waker_();
}

bool PlaybackPipeline::failed() const {
  absl::MutexLock lock(&mutex_);
  return !status_.ok();
}

}  // namespace tapedeck::gpu_worker::pipeline
