#include "storage_node/capture/trigger_sink.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/recording/writing/block_limits.h"

namespace tapedeck::storage_node::capture {

using dataplane::Flow;

namespace {

// Triggers that wait for a recording to be made.
constexpr size_t kMaxWaiting = 64;

// As many as a worker is told.
constexpr size_t kMaxCaptures = 256;

// False if it takes no more notes.
bool Mark(uint64_t sample, const services::Trigger& trigger, recording::LiveRecording& live) {
  return live.Annotate(
      {.sample_start = sample, .label = trigger.label, .comment = trigger.comment});
}

absl::Status TooMany(absl::string_view what) {
  return services::LimitReached(
      absl::StrCat(kMaxWaiting), "waiting triggers",
      absl::StrCat("trigger: too many triggers wait for their ", what, "; try again"));
}

bool Triggers(const dataplane::BlockHeader& header) {
  return (header.flags & dataplane::kBlockTriggered) != 0;
}

}  // namespace

TriggerSink::TriggerSink(TriggerOptions options, dataplane::Executor& executor)
    : options_(std::move(options)),
      port_(std::make_shared<TriggerPort>(
          executor, [this](const services::Trigger& trigger, TriggerPort::Answer answer) {
            OnTrigger(trigger, std::move(answer));
          })) {}

void TriggerSink::OnMade(absl::StatusOr<ArmRecording> arm) {
  if (!arm.ok()) return OnNotMade(arm.status());
  ActiveCapture& capture = *capture_;
  capture.recording = (*arm)();
  capture.recording->writer->SetWaker(waker_);
  capture.bounds.recording = capture.recording->name;
  capture.bounds.recordings = {capture.recording->name};
  capture.span.Set("tapedeck.recording", capture.recording->name);
  captures_.push_back(capture.recording->name);
  if (captures_.size() > kMaxCaptures) captures_.erase(captures_.begin());
  Settle();
  while (!waiting_.empty() && !making()) {
    Asked next = std::move(waiting_.front());
    waiting_.pop_front();
    Place(std::move(next));
    if (capture_.has_value() && !making()) Settle();
  }
  error_.Update(TakeEarly());
  if (waker_) waker_();
}

void TriggerSink::OnNotMade(const absl::Status& error) {
  error_.Update(error);
  capture_->span.End(error);
  std::vector<Asked> asked = std::move(capture_->asked);
  capture_ = std::nullopt;
  std::ranges::move(std::exchange(waiting_, {}), std::back_inserter(asked));
  for (Asked& one : asked) {
    if (one.answer) one.answer(error);
  }
  if (waker_) waker_();
}

void TriggerSink::SetWaker(dataplane::Waker waker) {
  waker_ = std::move(waker);
  if (capture_.has_value() && !making()) capture_->recording->writer->SetWaker(waker_);
}

absl::Status TriggerSink::status() const {
  if (!error_.ok()) return error_;
  if (capture_.has_value() && !making()) return capture_->recording->writer->status();
  return options_.check();
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
  if (Triggers(block->header())) {
    TD_RETURN_IF_ERROR(options_.window.CheckTriggers(block->header()));
  }
  if (Stuck()) return Flow::kNotNow;
  // A window is told by samples, in their order; the receiver bounds how far a block may be ahead.
  early_.emplace(sequence, std::move(*block));
  error_ = TakeEarly();
  TD_RETURN_IF_ERROR(error_);
  return Flow::kMoved;
}

bool TriggerSink::BelongsToCapture(uint64_t sample) const {
  const uint64_t end = capture_->bounds.end_sample;
  if (options_.window.Around(sample).first_sample < end) return true;
  return std::ranges::any_of(held_, [&](const dataplane::Block& block) {
    return block.header().sample_index < end && sample < options_.window.EndOf(block.header());
  });
}

bool TriggerSink::Stuck() const {
  if (!making()) return false;
  if (held_.size() >= options_.hold_blocks + options_.making_blocks) return true;
  if (early_.empty() || early_.begin()->first != next_) return false;
  const dataplane::BlockHeader& next = early_.begin()->second.header();
  return Triggers(next) && !BelongsToCapture(next.sample_index + next.triggers.first);
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
  const bool made = capture_.has_value() && !making();
  if (made && header.sample_index >= capture_->bounds.end_sample) EndCapture();
  newest_end_ = std::max(newest_end_, options_.window.EndOf(header));
  std::optional<Asked> asked;
  if (Triggers(header)) {
    asked.emplace().trigger.sample = header.sample_index + header.triggers.first;
    asked->last_sample = header.sample_index + header.triggers.last;
    recording::ForgetTriggers(header);
  }
  held_.push_back(std::move(block));
  if (asked.has_value()) Catch(*std::move(asked));
  CatchDue();
  if (capture_.has_value() && !making()) Settle();
  if (!capture_.has_value()) DropOld();
  return error_;
}

void TriggerSink::CatchDue() {
  while (!ahead_.empty() && ahead_.begin()->first < newest_end_) {
    Asked due = std::move(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
    if (!due.trigger.sample.has_value()) {
      due.trigger.sample = due.last_sample = held_.back().header().sample_index;
    }
    // One that was lost is taken for the first behind it.
    if (!due.marked && !held_.empty()) {
      const uint64_t first = std::max(*due.trigger.sample, OldestSample());
      due.trigger.sample = first;
      due.last_sample = std::max(due.last_sample, first);
    }
    Place(std::move(due));
  }
}

// The newest sample may trigger.
void TriggerSink::DropOld() {
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
  capture.recorded_end = options_.window.EndOf(block.header());
  block.header().sequence = capture.blocks++;
  return capture.recording->writer->Push(&block).status();
}

absl::Status TriggerSink::RecordHeld() {
  for (dataplane::Block& block : std::exchange(held_, {})) {
    TD_RETURN_IF_ERROR(Record(std::move(block)));
  }
  return absl::OkStatus();
}

void TriggerSink::OnTrigger(const services::Trigger& trigger, TriggerPort::Answer answer) {
  absl::Status status = this->status();
  if (status.ok() && ended_) status = absl::FailedPreconditionError("the session is ending");
  const bool to_come = trigger.sample.value_or(0) >= newest_end_;
  const size_t waiting = waiting_.size() + (making() ? capture_->asked.size() : 0);
  if (status.ok() && (to_come ? ahead_.size() : waiting) >= kMaxWaiting) {
    status = TooMany(to_come ? "samples" : "recordings");
  }
  if (!status.ok()) return answer(status);
  Asked asked{.trigger = trigger, .answer = std::move(answer)};
  if (to_come) return Await(std::move(asked));
  if (!trigger.sample.has_value()) asked.trigger.sample = newest_end_ - 1;
  asked.last_sample = *asked.trigger.sample;
  Place(std::move(asked));
  if (capture_.has_value() && !making()) Settle();
}

void TriggerSink::Await(Asked asked) {
  const uint64_t sample = asked.trigger.sample.value_or(0);
  services::Capture bounds = options_.window.Around(sample);
  if (capture_.has_value() && !making() && sample < capture_->bounds.end_sample) {
    bounds.recording = capture_->bounds.recording;
    bounds.recordings = capture_->bounds.recordings;
    bounds.first_sample = capture_->bounds.first_sample;
  }
  std::exchange(asked.answer, nullptr)(Caught{.capture = std::move(bounds)});
  asked.last_sample = sample;
  ahead_.emplace(sample, std::move(asked));
}

void TriggerSink::Place(Asked asked) {
  const uint64_t sample = *asked.trigger.sample;
  if (!asked.marked && sample < OldestSample()) return CatchBehind(std::move(asked));
  if (making() && !BelongsToCapture(asked.last_sample)) {
    waiting_.push_back(std::move(asked));
  } else {
    Catch(std::move(asked));
  }
}

void TriggerSink::CatchBehind(Asked asked) {
  const uint64_t sample = *asked.trigger.sample;
  const bool there = sample >= previous_.first_sample && sample < previous_.end_sample;
  if (!asked.answer) {
    if (there && Mark(sample, asked.trigger, *previous_.live)) return;
    return LogNotCome(sample, 1);
  }
  if (!there) {
    return asked.answer(services::ArgumentInvalid(
        "sample", absl::StrCat("trigger: sample ", sample,
                               " is no longer held; the oldest held is ", OldestSample())));
  }
  services::Capture bounds = options_.window.Around(sample);
  const bool more = bounds.end_sample > previous_.end_sample;
  const bool waits = more && !capture_.has_value() && held_.empty();
  if (waits && ahead_.size() >= kMaxWaiting) return asked.answer(TooMany("samples"));
  bounds.recording = previous_.recording;
  bounds.recordings = {previous_.recording};
  bounds.first_sample = previous_.first_sample;
  std::exchange(asked.answer,
                nullptr)(Caught{.capture = std::move(bounds), .to_mark = previous_.recording});
  if (!more) return;
  asked.marked = true;
  if (waits) {
    ahead_.emplace(newest_end_, std::move(asked));
  } else {
    Place(std::move(asked));
  }
}

uint64_t TriggerSink::OldestSample() const {
  if (capture_.has_value()) return capture_->bounds.first_sample;
  return held_.empty() ? newest_end_ : held_.front().header().sample_index;
}

void TriggerSink::Catch(Asked asked) {
  const uint64_t sample = *asked.trigger.sample;
  const bool begins = !capture_.has_value();
  if (begins) {
    capture_ = ActiveCapture{};
    capture_->span = asked.trigger.trace.Start("capture");
  }
  services::Capture& bounds = capture_->bounds;
  bounds.trigger_sample = sample;
  bounds.end_sample =
      std::max(bounds.end_sample, options_.window.Around(asked.last_sample).end_sample);
  services::model::SampleTime begin_ns;
  if (begins) {
    const dataplane::BlockHeader& first = FirstFrom(options_.window.Around(sample).first_sample);
    bounds.first_sample = first.sample_index;
    if (first.capture_ns != dataplane::kTimeUnknown) begin_ns = first.capture_ns;
  }
  asked.bounds = bounds;
  capture_->asked.push_back(std::move(asked));
  if (!begins) return;
  // The last: it may be there at once.
  options_.make(begin_ns, lifetime_.Guard([this](absl::StatusOr<ArmRecording> arm) {
    OnMade(std::move(arm));
  }));
}

const dataplane::BlockHeader& TriggerSink::FirstFrom(uint64_t sample) const {
  const auto first = std::ranges::find_if(held_, [&](const dataplane::Block& block) {
    return options_.window.EndOf(block.header()) > sample;
  });
  return first->header();
}

void TriggerSink::Settle() {
  error_.Update(RecordHeld());
  ActiveCapture& capture = *capture_;
  for (Asked& one : std::exchange(capture.asked, {})) {
    recording::LiveRecording& live = *capture.recording->live;
    if (!one.marked) Mark(*one.trigger.sample, one.trigger, live);
    if (one.last_sample != *one.trigger.sample) Mark(one.last_sample, one.trigger, live);
    if (!one.answer) continue;
    if (!error_.ok()) {
      one.answer(error_);
      continue;
    }
    one.bounds.recording = capture.bounds.recording;
    one.bounds.recordings = capture.bounds.recordings;
    one.bounds.first_sample = capture.bounds.first_sample;
    one.answer(Caught{.capture = std::move(one.bounds)});
  }
  if (newest_end_ >= capture.bounds.end_sample) EndCapture();
}

void TriggerSink::EndCapture() {
  dataplane::Log(dataplane::LogLevel::kInfo, "trigger_sink", "captured",
                 {{"recording", capture_->recording->name},
                  {"blocks", absl::StrCat(capture_->blocks)},
                  {"trigger_sample", absl::StrCat(capture_->bounds.trigger_sample)}});
  capture_->span.Set("tapedeck.blocks", static_cast<int64_t>(capture_->blocks));
  capture_->span.End();
  DropClosed();
  previous_ = {.recording = capture_->recording->name,
               .live = capture_->recording->live,
               .first_sample = capture_->bounds.first_sample,
               .end_sample = capture_->recorded_end};
  // Its writer still flushes and seals; the stream goes on meanwhile.
  closing_.push_back(*std::move(capture_->recording));
  capture_ = std::nullopt;
  if (waiting_.empty()) DropOld();
  // It is asked again until it has ended.
  closing_.back().writer->Finish(absl::OkStatus()).IgnoreError();
  if (waker_) waker_();
}

void TriggerSink::DropClosed() {
  std::erase_if(closing_, [](const ArmedRecording& one) {
    const auto flow = one.writer->Finish(absl::OkStatus());
    return flow.ok() && *flow == Flow::kEnd;
  });
}

// A stream that ends in order leaves a whole recording, which says why it is short.
void TriggerSink::CutCapture(const absl::Status& cause) {
  const absl::Status ended = absl::CancelledError("the stream ended");
  capture_->span.End(cause.ok() ? ended : cause);
  recording::RecordingWriter& writer = *capture_->recording->writer;
  if (capture_->blocks == 0) captures_.pop_back();  // it goes away
  if (cause.ok()) writer.EndEarly("the stream ended before the capture did");
  // It is asked again until it has ended.
  writer.Finish(cause.ok() && capture_->blocks == 0 ? ended : cause).IgnoreError();
  closing_.push_back(*std::move(capture_->recording));
  capture_ = std::nullopt;
}

absl::StatusOr<Flow> TriggerSink::Finish(const absl::Status& cause) {
  // What has triggered is caught.
  if (making()) return Flow::kNotNow;
  if (!std::exchange(ended_, true)) {
    early_.clear();
    held_.clear();
    if (!ahead_.empty()) LogNotCome(ahead_.begin()->first, ahead_.size());
    ahead_.clear();
    if (capture_.has_value()) CutCapture(cause);
  }
  for (auto it = closing_.begin(); it != closing_.end();) {
    const auto flow = it->writer->Finish(cause);
    if (flow.ok() && *flow != Flow::kEnd) {
      ++it;
      continue;
    }
    error_.Update(flow.status());
    it = closing_.erase(it);
  }
  if (!closing_.empty()) return Flow::kNotNow;
  if (cause.ok() && !error_.ok()) return error_;
  return Flow::kEnd;
}

}  // namespace tapedeck::storage_node::capture
