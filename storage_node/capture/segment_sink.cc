#include "storage_node/capture/segment_sink.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/recording/writing/block_limits.h"

namespace tapedeck::storage_node::capture {

using dataplane::Flow;

namespace {

// Segments that wait for the disk to close them: what they hold can neither be played nor give way.
constexpr size_t kMaxEnding = 4;

// Triggers that wait for the disk to say that closed segments are kept.
constexpr size_t kMaxToWriteDown = 64;

}  // namespace

SegmentSink::SegmentSink(SegmentOptions options, ArmedRecording first,
                         dataplane::Executor& executor, std::vector<ArmedRecording> more)
    : options_(std::move(options)),
      port_(std::make_shared<TriggerPort>(
          executor, [this](const services::Trigger& trigger,
                           TriggerPort::Answer answer) { answer(OnTrigger(trigger)); })),
      first_recording_(first.name),
      keeper_(options_.keeper),
      end_of_space_(
          executor, [this] { return watermarks().received; },
          [this] {
            if (waker_) waker_();
          }) {
  Open(options_.first_number, std::move(first));
  for (ArmedRecording& recording : more) Open(open_.back().number + 1, std::move(recording));
  for (Segment& segment : open_) EndFull(segment);
}

void SegmentSink::Open(uint64_t number, ArmedRecording recording) {
  recording.writer->SetWaker(waker_);
  keeper_.OnSegment(number, recording.name, recording.live);
  const bool used = recording.live->blocks > 0;
  if (used) newest_ = {number, recording.name, recording.live};
  open_.push_back({.number = number, .recording = std::move(recording), .used = used});
}

void SegmentSink::MakeNext(bool ahead) {
  making_ = true;
  const uint64_t number = open_.back().number + 1;
  options_.make(number, lifetime_.Guard([this, number, ahead](absl::StatusOr<ArmRecording> arm) {
    OnMade(number, ahead, std::move(arm));
  }));
}

// One that comes when the stream has ended is closed like any other that has no block.
void SegmentSink::OnMade(uint64_t number, bool ahead, absl::StatusOr<ArmRecording> arm) {
  making_ = false;
  if (arm.ok()) {
    Open(number, (*arm)());
  } else if (ahead) {
    dataplane::Log(dataplane::LogLevel::kWarning, "segment_sink", "no space for the next segment",
                   {{"stream", first_recording_}, {"error", std::string(arm.status().message())}});
  } else {
    make_error_ = arm.status();
    closings_at_failure_ = closings_;
  }
  if (waker_) waker_();
}

absl::StatusOr<bool> SegmentSink::MayTryAgain() {
  if (make_error_.ok()) return true;
  const bool closed = closings_ != closings_at_failure_;
  if (!absl::IsResourceExhausted(make_error_) || (!closed && ending() == 0)) return make_error_;
  if (closed) make_error_ = absl::OkStatus();
  return closed;
}

size_t SegmentSink::ending() const {
  return static_cast<size_t>(std::ranges::count_if(
      open_, [](const Segment& segment) { return segment.ending && !segment.closed; }));
}

// No block is held back that a segment needs to be closed: those that are waited for have all.
absl::StatusOr<Flow> SegmentSink::MakeUpTo(uint64_t number) {
  while (open_.back().number < number) {
    TD_RETURN_IF_ERROR(end_of_space_.status());
    if (end_of_space_.is_set()) return Flow::kEnd;
    if (making_ || ending() >= kMaxEnding) return Flow::kNotNow;
    const absl::StatusOr<bool> again = MayTryAgain();
    if (!again.ok()) {
      end_of_space_.Set((open_.back().number + 1) * options_.segment_blocks, again.status());
    } else if (*again) {
      MakeNext(/*ahead=*/false);
    } else {
      return Flow::kNotNow;
    }
  }
  return Flow::kMoved;
}

// What fails now is tried again when the segment is needed, and is an error only then. Where the
// stream ends nothing gives way to a segment that gets no block.
void SegmentSink::MakeAhead(uint64_t sequence) {
  const uint64_t number = sequence / options_.segment_blocks + 1;
  const bool half = sequence % options_.segment_blocks >= options_.segment_blocks / 2;
  if (!half || number <= std::max(open_.back().number, ahead_tried_)) return;
  if (making_ || end_of_space_.is_set() || ending() >= kMaxEnding) return;
  ahead_tried_ = number;
  MakeNext(/*ahead=*/true);
}

void SegmentSink::SetWaker(dataplane::Waker waker) {
  waker_ = std::move(waker);
  for (Segment& segment : open_) segment.recording.writer->SetWaker(waker_);
}

absl::Status SegmentSink::status() const {
  if (!error_.ok()) return error_;
  TD_RETURN_IF_ERROR(end_of_space_.status());
  for (const Segment& segment : open_) TD_RETURN_IF_ERROR(segment.recording.writer->status());
  return absl::OkStatus();
}

bool SegmentSink::HasAllOf(uint64_t number) const {
  const uint64_t first = open_.front().number;
  return number < first || (number - first < open_.size() && open_[number - first].ending);
}

absl::StatusOr<Flow> SegmentSink::Push(dataplane::Block* block) {
  Retire();
  TD_RETURN_IF_ERROR(status());
  const dataplane::BlockHeader header = block->header();
  const uint64_t number = header.sequence / options_.segment_blocks;
  if (HasAllOf(number)) {  // it came before
    block->Reset();
    return Flow::kMoved;
  }
  if (header.sequence >= watermarks().received + recording::kMaxDisorder) {
    return services::ProtocolViolation(
        {.message = "Block"}, absl::StrCat("write ", first_recording_, ": block ", header.sequence,
                                           " is too far ahead of the blocks received"));
  }
  const bool triggers =
      options_.write_down != nullptr && (header.flags & dataplane::kBlockTriggered) != 0;
  if (triggers) TD_RETURN_IF_ERROR(options_.keeper.window.CheckTriggers(header));
  if (triggers && to_write_down_.size() >= kMaxToWriteDown) return Flow::kNotNow;
  TD_ASSIGN_OR_RETURN(const Flow made, MakeUpTo(number));
  if (made == Flow::kEnd) {
    block->Reset();
    return Flow::kMoved;
  }
  if (made != Flow::kMoved) return made;
  Segment& segment = open_[number - open_.front().number];
  block->header().sequence = header.sequence % options_.segment_blocks;
  if (triggers) recording::ForgetTriggers(block->header());
  TD_ASSIGN_OR_RETURN(const Flow flow, segment.recording.writer->Push(block));
  if (flow != Flow::kMoved) {
    block->header() = header;
    return flow;
  }
  segment.used = true;
  if (newest_.live == nullptr || newest_.number < number) {
    newest_ = {number, segment.recording.name, segment.recording.live};
  }
  keeper_.OnBlock(number, header);
  if (triggers) CatchTriggered(header);
  EndFull(segment);
  MakeAhead(header.sequence);
  return flow;
}

void SegmentSink::EndFull(Segment& segment) {
  recording::RecordingWriter& writer = *segment.recording.writer;
  if (segment.ending || writer.watermarks().received < options_.segment_blocks) return;
  segment.ending = true;
  writer.Finish(absl::OkStatus()).IgnoreError();  // asked again until it has ended
}

// Also behind one that still waits for a block: that block may be queued behind the one that is
// held back until these are closed.
void SegmentSink::Retire() {
  for (Segment& segment : open_) {
    if (!segment.ending || segment.closed) continue;
    const auto flow = segment.recording.writer->Finish(absl::OkStatus());
    error_.Update(flow.status());
    if (!flow.ok() || *flow != Flow::kEnd) continue;
    segment.closed = true;
    ++closings_;
    keeper_.OnClosed(segment.number);
  }
  while (open_.size() > 1 && open_.front().closed) open_.pop_front();
}

dataplane::Watermarks SegmentSink::watermarks() const {
  const uint64_t closed = open_.front().number * options_.segment_blocks;
  dataplane::Watermarks sum{.received = closed, .written = closed, .durable = closed};
  // A segment counts only as far as all before it are there.
  uint64_t end = closed;
  for (const Segment& segment : open_) {
    const dataplane::Watermarks marks = segment.recording.writer->watermarks();
    if (sum.received == end) sum.received += marks.received;
    if (sum.written == end) sum.written += marks.written;
    if (sum.durable == end) sum.durable += marks.durable;
    end += options_.segment_blocks;
  }
  return sum;
}

absl::StatusOr<Caught> SegmentSink::OnTrigger(const services::Trigger& trigger) {
  Retire();
  TD_RETURN_IF_ERROR(status());
  if (ended_) return absl::FailedPreconditionError("the session is ending");
  TD_RETURN_IF_ERROR(keeper_.CheckTakes(trigger));
  return keeper_.Keep(trigger);
}

void SegmentSink::CatchTriggered(const dataplane::BlockHeader& header) {
  const auto& [first, last] = header.triggers;
  for (const uint32_t offset : std::set<uint32_t>{first, last}) {
    services::Trigger trigger;
    trigger.sample = header.sample_index + offset;
    Caught caught = keeper_.Keep(trigger);
    if (caught.to_keep.empty() && caught.to_mark.empty()) continue;
    to_write_down_.emplace_back(std::move(caught), std::move(trigger));
  }
  WriteDownNext();
}

void SegmentSink::WriteDownNext() {
  if (writing_down_ || to_write_down_.empty()) return;
  writing_down_ = true;
  auto [caught, trigger] = std::move(to_write_down_.front());
  to_write_down_.pop_front();
  options_.write_down(std::move(caught), std::move(trigger), lifetime_.Guard([this] {
    writing_down_ = false;
    WriteDownNext();
    if (waker_) waker_();
  }));
}

bool SegmentSink::Concluded(const absl::Status& cause) {
  if (!std::exchange(to_conclude_, false)) return !concluding_;
  const auto closed = newest_.live->closed();
  auto hold = options_.keeper.pin(newest_.name, /*writing=*/false);
  // Its closing failed, it is being deleted, or a session goes on with it.
  if (closed == nullptr || hold == nullptr) {
    dataplane::Log(dataplane::LogLevel::kWarning, "segment_sink",
                   "a stream's last segment is in use and does not say why its session ended",
                   {{"recording", newest_.name},
                    {"cause", cause.ok() ? ends_early_ : std::string(cause.message())}});
    return true;
  }
  concluding_ = true;
  options_.conclude({.recording = newest_.name,
                     .end_time_ns = closed->end_time_ns,
                     .cause = cause,
                     .early = ends_early_,
                     .hold = std::move(hold)},
                    lifetime_.Guard([this] {
                      concluding_ = false;
                      if (waker_) waker_();
                    }));
  return false;
}

absl::StatusOr<Flow> SegmentSink::Finish(const absl::Status& given) {
  const absl::Status cause = given.ok() ? end_of_space_.why() : given;
  const bool first = !std::exchange(ended_, true);
  if (first) keeper_.OnEnd();
  if (first && newest_.live != nullptr && (!cause.ok() || !ends_early_.empty())) {
    to_conclude_ = HasAllOf(newest_.number);
  }
  const absl::Status unused = absl::CancelledError("the stream ended before this segment");
  bool all = !making_ && !writing_down_;
  for (Segment& segment : open_) {
    const bool keep = segment.used || segment.number == 0;
    if (first && !segment.ending) segment.recording.writer->EndEarly(ends_early_);
    const auto flow = segment.recording.writer->Finish(keep ? cause : unused);
    error_.Update(flow.status());
    all = all && (!flow.ok() || *flow == Flow::kEnd);
  }
  if (!all || !Concluded(cause)) return Flow::kNotNow;
  if (!given.ok()) return Flow::kEnd;
  TD_RETURN_IF_ERROR(cause);
  TD_RETURN_IF_ERROR(error_);
  return Flow::kEnd;
}

}  // namespace tapedeck::storage_node::capture
