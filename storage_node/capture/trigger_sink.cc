#include "storage_node/capture/trigger_sink.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/block_limits.h"

namespace tapedeck::storage_node::capture {

using dataplane::Flow;

namespace {

std::optional<TriggerSink::Samples> TriggeredBy(const dataplane::BlockHeader& header) {
  if ((header.flags & dataplane::kBlockTriggered) == 0) return std::nullopt;
  return TriggerSink::Samples{.first = header.sample_index + header.triggers.first,
                              .last = header.sample_index + header.triggers.last};
}

void Mark(const services::Trigger& trigger, const ArmedRecording& recording) {
  recording.live->Annotate(
      {.sample_start = *trigger.sample, .label = trigger.label, .comment = trigger.comment});
}

}  // namespace

TriggerSink::TriggerSink(TriggerOptions options, ArmedRecording first,
                         dataplane::Executor& executor)
    : options_(std::move(options)),
      port_(std::make_shared<TriggerPort>(
          executor, [this](const services::Trigger& trigger) { return OnTrigger(trigger); })),
      armed_(std::move(first)) {}

// A recording lies ready before it is needed: to make one waits for the disk, and a trigger must
// not.
void TriggerSink::MakeNext() {
  making_ = true;
  options_.make(
      lifetime_.Guard([this](absl::StatusOr<ArmRecording> arm) { OnMade(std::move(arm)); }));
}

void TriggerSink::OnMade(absl::StatusOr<ArmRecording> arm) {
  making_ = false;
  if (arm.ok()) {
    armed_ = (*arm)();
    armed_->writer->SetWaker(waker_);
    error_.Update(CatchTriggered());
    error_.Update(TakeEarly());
  } else {
    error_.Update(arm.status());
  }
  port_->OnReady();
  if (waker_) waker_();
}

void TriggerSink::SetWaker(dataplane::Waker waker) {
  waker_ = std::move(waker);
  if (armed_.has_value()) armed_->writer->SetWaker(waker_);
}

absl::Status TriggerSink::status() const {
  if (!error_.ok()) return error_;
  if (capture_.has_value()) return capture_->recording.writer->status();
  return armed_.has_value() ? armed_->writer->status() : absl::OkStatus();
}

absl::StatusOr<Flow> TriggerSink::Push(dataplane::Block* block) {
  TD_RETURN_IF_ERROR(status());
  const uint64_t sequence = block->header().sequence;
  if (sequence < next_ || early_.contains(sequence)) {
    block->Reset();
    return Flow::kMoved;
  }
  TD_RETURN_IF_ERROR(
      recording::CheckBlock("a capture", block->header(), options_.window.block_bytes, next_));
  if (Stuck()) return Flow::kNotNow;
  // A window is told by samples, in their order; the receiver bounds how far a block may be ahead.
  early_.emplace(sequence, std::move(*block));
  error_ = TakeEarly();
  TD_RETURN_IF_ERROR(error_);
  return Flow::kMoved;
}

bool TriggerSink::Stuck() const {
  if (!triggered_.has_value()) return false;
  if (held_.size() >= options_.hold_blocks) return true;
  if (early_.empty() || early_.begin()->first != next_) return false;
  const auto next = TriggeredBy(early_.begin()->second.header());
  return next.has_value() && options_.window.Around(next->first).first_sample >=
                                 options_.window.Around(triggered_->last).end_sample;
}

absl::Status TriggerSink::TakeEarly() {
  while (!Stuck() && !early_.empty() && early_.begin()->first == next_) {
    dataplane::Block following = std::move(early_.begin()->second);
    early_.erase(early_.begin());
    ++next_;
    TD_RETURN_IF_ERROR(Take(std::move(following)));
  }
  return absl::OkStatus();
}

absl::Status TriggerSink::Take(dataplane::Block block) {
  dataplane::BlockHeader& header = block.header();
  if (capture_.has_value() && header.sample_index >= capture_->bounds.end_sample) EndCapture();
  newest_end_ = std::max(newest_end_, options_.window.EndOf(header));
  if (const auto samples = TriggeredBy(header); samples.has_value()) {
    triggered_ = {triggered_.value_or(*samples).first, samples->last};
    recording::ForgetTriggers(header);
  }
  held_.push_back(std::move(block));
  TD_RETURN_IF_ERROR(CatchTriggered());
  if (!capture_.has_value()) {
    DropOld();
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(RecordHeld());
  if (newest_end_ >= capture_->bounds.end_sample) EndCapture();
  return absl::OkStatus();
}

absl::Status TriggerSink::CatchTriggered() {
  if (!triggered_.has_value() || (!capture_.has_value() && !armed_.has_value())) {
    return absl::OkStatus();
  }
  const Samples samples = *std::exchange(triggered_, std::nullopt);
  return Catch({.sample = samples.first}, {.sample = samples.last}).status();
}

// The newest sample may trigger. What is held for a trigger that waits is kept.
void TriggerSink::DropOld() {
  if (triggered_.has_value()) return;
  const uint64_t keep_from =
      newest_end_ - std::min(newest_end_, options_.window.before_samples + 1);
  while (!held_.empty() && (options_.window.EndOf(held_.front().header()) <= keep_from ||
                            held_.size() > options_.hold_blocks)) {
    held_.pop_front();
  }
}

// Before the capture's first sample nothing is recorded, after its last the next window begins.
absl::Status TriggerSink::Record(dataplane::Block block) {
  ActiveCapture& capture = *capture_;
  if (options_.window.EndOf(block.header()) <= capture.bounds.first_sample) return absl::OkStatus();
  if (block.header().sample_index >= capture.bounds.end_sample) {
    held_.push_back(std::move(block));
    return absl::OkStatus();
  }
  if (capture.blocks == 0) {
    capture.bounds.first_sample =
        std::max(capture.bounds.first_sample, block.header().sample_index);
  }
  block.header().sequence = capture.blocks++;
  return capture.recording.writer->Push(&block).status();
}

absl::Status TriggerSink::RecordHeld() {
  for (dataplane::Block& block : std::exchange(held_, {})) {
    TD_RETURN_IF_ERROR(Record(std::move(block)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Caught> TriggerSink::OnTrigger(const services::Trigger& trigger) {
  TD_RETURN_IF_ERROR(status());
  if (ended_) return absl::FailedPreconditionError("the session is ending");
  services::Trigger at = trigger;
  if (!at.sample.has_value()) at.sample = newest_end_ == 0 ? 0 : newest_end_ - 1;
  // A trigger so soon after the one before waits with its caller, not here.
  if (!capture_.has_value() && !armed_.has_value()) {
    return absl::AbortedError("the next recording is being made");
  }
  return Catch(at, at);
}

absl::StatusOr<Caught> TriggerSink::Catch(const services::Trigger& trigger,
                                          const services::Trigger& last) {
  const services::Capture asked = options_.window.Around(*trigger.sample);
  const bool begins = !capture_.has_value();
  if (begins) {
    capture_ = ActiveCapture{.recording = *std::exchange(armed_, std::nullopt)};
    capture_->bounds.recording = capture_->recording.name;
    capture_->bounds.recordings = {capture_->recording.name};
    capture_->bounds.first_sample = asked.first_sample;
    capture_->span = trigger.trace.Start("capture");
    capture_->span.Set("tapedeck.recording", capture_->recording.name);
  }
  ActiveCapture& capture = *capture_;
  capture.bounds.trigger_sample = *trigger.sample;
  capture.bounds.end_sample =
      std::max(capture.bounds.end_sample, options_.window.Around(*last.sample).end_sample);
  Mark(trigger, capture.recording);
  if (last.sample != trigger.sample) Mark(last, capture.recording);
  error_.Update(RecordHeld());
  TD_RETURN_IF_ERROR(error_);
  const services::Capture bounds = capture.bounds;
  if (newest_end_ >= bounds.end_sample) EndCapture();
  if (begins) MakeNext();  // the last: it may be there at once, and what waits for it goes on
  return Caught{.capture = bounds};
}

void TriggerSink::EndCapture() {
  dataplane::Log(dataplane::LogLevel::kInfo, "trigger_sink", "captured",
                 {{"recording", capture_->recording.name},
                  {"blocks", absl::StrCat(capture_->blocks)},
                  {"trigger_sample", absl::StrCat(capture_->bounds.trigger_sample)}});
  capture_->span.Set("tapedeck.blocks", static_cast<int64_t>(capture_->blocks));
  capture_->span.End();
  // Its writer still flushes and seals; the stream goes on meanwhile.
  closing_.push_back(std::move(capture_->recording));
  capture_ = std::nullopt;
  DropOld();
  // It is asked again until it has ended.
  closing_.back().writer->Finish(absl::OkStatus()).IgnoreError();
  if (waker_) waker_();
}

absl::StatusOr<Flow> TriggerSink::Finish(const absl::Status& cause) {
  // What triggers in a block that has come is caught.
  if (triggered_.has_value() && making_ && error_.ok()) return Flow::kNotNow;
  if (!std::exchange(ended_, true)) {
    early_.clear();
    held_.clear();
    if (capture_.has_value()) {
      capture_->span.End(cause.ok() ? absl::CancelledError("the stream ended") : cause);
      closing_.push_back(std::move(capture_->recording));
    }
    capture_ = std::nullopt;
  }
  // An armed recording without a block goes away.
  if (armed_.has_value()) closing_.push_back(*std::exchange(armed_, std::nullopt));
  const absl::Status why = cause.ok() ? absl::CancelledError("the stream ended") : cause;
  for (auto it = closing_.begin(); it != closing_.end();) {
    const auto flow = it->writer->Finish(why);
    if (flow.ok() && *flow != Flow::kEnd) {
      ++it;
      continue;
    }
    error_.Update(flow.status());
    it = closing_.erase(it);
  }
  if (making_ || !closing_.empty()) return Flow::kNotNow;
  if (cause.ok() && !error_.ok()) return error_;
  return Flow::kEnd;
}

}  // namespace tapedeck::storage_node::capture
