#include "gpu_worker/pipeline/record_pipeline.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pace/schedule.h"
#include "gpu_worker/pipeline/nvtx/range.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

// Who comes no later than that is woken as late as threads of a busy machine are. Nothing is lost
// then: samples that are made are those of the instant whenever they are.
constexpr int64_t kOnTimeNs = 100 * dataplane::kMillisecondNs;

}  // namespace

using dataplane::Block;
using dataplane::Flow;
using dataplane::flight::Kind;

absl::StatusOr<std::unique_ptr<RecordPipeline>> RecordPipeline::Create(RecordPlan plan) {
  auto tasks = std::make_shared<services::TaskQueue>();
  TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create("td-record", tasks));
  return std::unique_ptr<RecordPipeline>(
      new RecordPipeline(std::move(plan), std::move(tasks), std::move(thread)));
}

RecordPipeline::RecordPipeline(RecordPlan plan, std::shared_ptr<services::TaskQueue> tasks,
                               std::unique_ptr<services::TaskThread> thread)
    : plan_(std::move(plan)), tasks_(std::move(tasks)), thread_(std::move(thread)) {
  if (plan_.second_output == nullptr) return;
  plan_.second_output->Start(tasks_, [this] {
    EndIfDone();
    PostAdvance();
  });
}

RecordPipeline::~RecordPipeline() {
  plan_.ring->SetWaker(nullptr);
  tasks_->Drop();
  if (plan_.timer != nullptr) plan_.timer->Wake();
  thread_->Stop();
  if (rest_.for_second.has_value()) Hold(*std::exchange(rest_.for_second, std::nullopt));
}

void RecordPipeline::SetWaker(dataplane::Waker waker) {
  outlet_.SetWaker(std::move(waker));
  plan_.ring->SetWaker([this, tasks = tasks_] { tasks->Post([this] { PostAdvance(); }); });
  plan_.source->SetWaker([this, tasks = tasks_] {
    tasks->Post([this] {
      rest_.dry = false;
      PostAdvance();
    });
  });
  tasks_->Post([this] {
    rest_.dry = false;  // Stop may have asked before, and nobody was to be woken
    PostAdvance();
  });
}

void RecordPipeline::Stop() {
  end_.wanted = true;
  tasks_->Post([this] { PostAdvance(); });
  if (plan_.timer != nullptr) plan_.timer->Wake();
}

void RecordPipeline::PostAdvance() {
  if (std::exchange(rest_.posted, true)) return;
  tasks_->Post([this] {
    rest_.posted = false;
    Advance();
  });
}

// Starts what is made at once and posts itself, so that completions get their turn between two
// starts. It rests when there is no slot, or the source has nothing; the ring's waker, a completion
// or the source's waker posts it again.
void RecordPipeline::Advance() {
  if (rest_.for_second.has_value()) FeedSecondOutput();
  if (end_.sealed || rest_.for_second.has_value()) return;
  if (TooEarly()) return PostAdvance();
  if (end_.sealed) return;
  if (LimitReached() || MustStop()) return Seal(absl::OkStatus());
  if (rest_.dry) return;
  std::optional<Underway> slots =
      rest_.unused.has_value() ? std::exchange(rest_.unused, {}) : TakeSlots();
  if (!slots.has_value()) return;
  Start(*std::move(slots));
  PostAdvance();
}

std::optional<RecordPipeline::Underway> RecordPipeline::TakeSlots() {
  Underway underway;
  for (size_t i = 0; i < plan_.ring->run(); ++i) {
    std::optional<Block> block = plan_.ring->Take();
    if (!block.has_value()) return std::nullopt;
    underway.blocks.push_back(*std::move(block));
  }
  const std::span<std::byte> memory(underway.blocks.front().memory().data(),
                                    underway.blocks.size() * plan_.block_bytes);
  std::optional<GpuRing::Loan> loan = plan_.work->Lend(memory);
  if (!loan.has_value()) return std::nullopt;
  underway.loan = *std::move(loan);
  return underway;
}

bool RecordPipeline::TooEarly() {
  if (plan_.spec.at_ns == 0 || begin_.asked || IsSkipped() || end_.wanted) return false;
  // Looked at again after each sleep: clocks are set.
  const int64_t now_ns = plan_.timer->WallNs();
  const int64_t left_ns = DueNs(next_sequence_) - now_ns;
  if (left_ns > 0) {
    plan_.timer->WaitUntil(plan_.timer->NowNs() + std::min(left_ns, dataplane::kWallLookNs));
    return true;
  }
  if (plan_.samples_per_s > 0 && -left_ns > kOnTimeNs) SkipUntil(now_ns);
  return false;
}

int64_t RecordPipeline::DueNs(uint64_t sequence) const {
  const uint64_t block_samples = plan_.block_bytes / plan_.sample_bytes;
  return plan_.samples_per_s > 0
             ? pace::Schedule(plan_.samples_per_s, plan_.spec.at_ns).DueNs(sequence * block_samples)
             : plan_.spec.at_ns;
}

void RecordPipeline::SkipUntil(int64_t now_ns) {
  if (now_ns - plan_.spec.at_ns > pace::kMostLateNs) {
    return Seal(services::ArgumentInvalid(
        "at", absl::StrCat("was ", (now_ns - plan_.spec.at_ns) / dataplane::kSecondNs,
                           " s ago when the job could begin; it may begin at most 60 s late")));
  }
  while (DueNs(begin_.skipped) <= now_ns) begin_.skipped += plan_.ring->run();
}

// Unless the source ends by itself, with what it has.
bool RecordPipeline::MustStop() {
  if (!end_.wanted) return false;
  if (!std::exchange(end_.asked, true)) end_.gives_rest = plan_.source->EndNow();
  return !end_.gives_rest;
}

bool RecordPipeline::LimitReached() {
  const int64_t now_ns = plan_.clock->NowNs();
  if (next_sequence_ == 0) begin_.clock_ns = now_ns;
  if (next_sequence_ == 0 && plan_.samples_per_s > 0) {
    begin_.clock_ns -= plan_.timer->WallNs() - plan_.spec.at_ns;
  }
  if (plan_.spec.duration_ns != 0 && now_ns - begin_.clock_ns >= plan_.spec.duration_ns)
    end_.wanted = true;
  return plan_.spec.blocks != 0 && next_sequence_ >= plan_.spec.blocks;
}

// At the first block: from then on the duration counts.
void RecordPipeline::StopAtDuration() {
  if (plan_.spec.duration_ns == 0 || plan_.executor == nullptr) return;
  plan_.executor->PostAt(begin_.clock_ns + plan_.spec.duration_ns,
                         [this, alive = lifetime_.token()] {
                           if (!alive.expired()) Stop();
                         });
}

void RecordPipeline::Start(Underway underway) {
  const NvtxRange range(Kind::kMade);
  const absl::StatusOr<stages::Filled> filled = Fill(underway);
  if (!filled.ok()) {
    Hold(std::move(underway));
    return Seal(filled.status());
  }
  if (filled->flow == Flow::kEnd) return Seal(absl::OkStatus());
  if (filled->flow == Flow::kNotNow) {
    rest_.dry = true;
    rest_.unused = std::move(underway);
    return;
  }
  if (next_sequence_ == 0) {
    *begin_.told_ns = begin_.clock_ns;
    StopAtDuration();
  }
  SetHeaders(underway, *filled);
  plan_.work->meter().OnDevice(++underway_);
  if (filled->bytes > 0 && filled->bytes < underway.loan.stage.host.size()) Seal(filled->end);
  if (plan_.second_output == nullptr) return Enqueued(std::move(underway));
  rest_.for_second = std::move(underway);
  FeedSecondOutput();
}

void RecordPipeline::SetHeaders(Underway& underway, const stages::Filled& filled) {
  const bool missing = filled.bytes == 0;
  size_t blocks = underway.blocks.size();
  if (!missing) blocks = (newest_.payload_bytes + plan_.block_bytes - 1) / plan_.block_bytes;
  if (plan_.spec.blocks != 0)
    blocks = std::min<uint64_t>(blocks, plan_.spec.blocks - next_sequence_);
  underway.blocks.resize(blocks);
  size_t left = newest_.payload_bytes;
  for (Block& block : underway.blocks) {
    dataplane::BlockHeader& header = block.header();
    header.sequence = next_sequence_++;
    header.sample_index = header.sequence * (plan_.block_bytes / plan_.sample_bytes);
    header.capture_ns = newest_.capture_ns;
    if (missing) {
      header.flags |= dataplane::kBlockMissing;
    } else {
      header.payload_bytes = static_cast<uint32_t>(std::min(left, plan_.block_bytes));
      if (header.payload_bytes < plan_.block_bytes) header.flags |= dataplane::kBlockPartial;
      left -= header.payload_bytes;
    }
    plan_.trail.Stamp(Kind::kMade, {.sequence = header.sequence});
  }
  const bool unknown = newest_.capture_ns == dataplane::kTimeUnknown;
  if (plan_.meter != nullptr && begin_.asked) {
    plan_.meter->First(unknown ? newest_.made_ns : newest_.capture_ns);
  }
}

void RecordPipeline::FeedSecondOutput() {
  StageMeter& meter = plan_.work->meter();
  meter.Begin();
  const absl::StatusOr<bool> taken = plan_.second_output->Take(
      rest_.for_second->blocks.front().header(), rest_.for_second->loan.network.device);
  meter.End(StageStep::kGpu);
  if (taken.ok() && !*taken) return;
  meter.Mark(plan_.work->queue(), StageStep::kGpu);
  if (!taken.ok()) {
    end_.broken = true;
    Seal(taken.status());
  }
  Enqueued(*std::exchange(rest_.for_second, std::nullopt));
}

// The device may still be at work on the slots.
void RecordPipeline::Hold(Underway underway) {
  plan_.work->queue().Then([held = std::move(underway)](const absl::Status&) {});
}

void RecordPipeline::Enqueued(Underway underway) {
  plan_.work->queue().Then([this, tasks = tasks_, trail = plan_.trail,
                            underway = std::move(underway)](absl::Status status) mutable {
    for (const Block& block : underway.blocks) {
      trail.Stamp(Kind::kComputed, {.sequence = block.header().sequence});
    }
    tasks->Post([this, underway = std::move(underway), status = std::move(status)]() mutable {
      Complete(std::move(underway), status);
    });
  });
}

// A missing block keeps its slot, so that the ring bounds how many there are. A source counts what
// it makes at once as one block.
absl::StatusOr<stages::Filled> RecordPipeline::Fill(Underway& underway) {
  const auto& [host, device] = underway.loan.stage;
  const stages::Slot slot{
      .sequence = next_sequence_ / underway.blocks.size(), .host = host, .device = device};
  newest_.payload_bytes = 0;
  if (IsSkipped()) {
    newest_.capture_ns = newest_.made_ns = DueNs(next_sequence_);
    return stages::Filled{};
  }
  const bool first = !std::exchange(begin_.asked, true);
  const bool due = first && plan_.samples_per_s > 0;
  newest_.made_ns = due ? DueNs(next_sequence_) : plan_.clock->WallNs();
  StageMeter& meter = plan_.work->meter();
  meter.Sample(plan_.work->queue(), next_sequence_);
  meter.Begin();
  TD_ASSIGN_OR_RETURN(stages::Filled filled, plan_.source->Fill(slot, plan_.work->queue()));
  meter.End(StageStep::kSource);
  if (filled.flow == Flow::kMoved) newest_.capture_ns = filled.capture_ns.value_or(newest_.made_ns);
  if (filled.flow != Flow::kMoved || filled.bytes == 0) return filled;
  meter.Mark(plan_.work->queue(), StageStep::kSource);
  TD_RETURN_IF_ERROR(Enqueue(underway, filled.bytes));
  meter.End(StageStep::kGpu);
  return filled;
}

absl::Status RecordPipeline::Enqueue(Underway& underway, size_t made) {
  TD_ASSIGN_OR_RETURN(newest_.payload_bytes,
                      plan_.work->Enqueue(underway.loan, made, plan_.source->fills_host(),
                                          /*to_host=*/!plan_.work->direct()));
  return absl::OkStatus();
}

void RecordPipeline::Complete(Underway underway, const absl::Status& status) {
  const NvtxRange range(Kind::kReady);
  plan_.work->meter().OnDevice(--underway_);
  if (!status.ok()) {
    end_.broken = true;
    Seal(status);
  } else if (!end_.broken) {
    Give(underway);
  }
  underway = {};  // the loan is free before the next start
  EndIfDone();
  PostAdvance();
}

// The payload is in the job's ring only now.
void RecordPipeline::Give(Underway& underway) {
  for (size_t i = 0; i < underway.blocks.size(); ++i) {
    Block block = std::move(underway.blocks[i]);
    dataplane::BlockHeader& header = block.header();
    if ((header.flags & dataplane::kBlockMissing) == 0) {
      if (const auto triggers = plan_.work->Find(header.sample_index)) {
        header.flags |= dataplane::kBlockTriggered;
        header.triggers = *triggers;
      }
      plan_.work->meter().Begin();
      header.crc32c = plan_.work->CrcOf(underway.loan, i, header.payload_bytes);
      plan_.work->meter().End(StageStep::kCrc);
    }
    plan_.trail.Stamp(Kind::kReady, {.sequence = header.sequence});
    outlet_.Give(std::move(block));
  }
}

void RecordPipeline::Seal(absl::Status status) {
  end_.sealed = true;
  end_.status.Update(status);
  EndIfDone();
}

void RecordPipeline::EndIfDone() {
  if (!end_.sealed || underway_ != 0) return;
  // So that whoever has seen the end of this output will see that of the other.
  if (plan_.second_output != nullptr && !plan_.second_output->End(end_.status)) return;
  outlet_.End(end_.status);
}

}  // namespace tapedeck::gpu_worker::pipeline
