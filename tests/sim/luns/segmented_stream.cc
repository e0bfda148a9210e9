#include "tests/sim/luns/segmented_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "tests/sim/disks/fingerprint.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
using dataplane::Flow;
namespace {

constexpr uint64_t kSampleBytes = 8;

}  // namespace

SegmentedStream::SegmentedStream(SimulatedLun& lun, const StreamPlan& plan, Fired* fired)
    : lun_(lun),
      plan_(plan),
      fired_(*fired),
      rails_(plan.blocks, plan.window, lun.Random()),
      ring_(lun.MakeRing(plan.block_bytes)) {}

absl::StatusOr<std::unique_ptr<SegmentedStream>> SegmentedStream::Create(
    SimulatedLun& lun, dataplane::Executor& triggers, const StreamPlan& plan, Fired* fired) {
  std::unique_ptr<SegmentedStream> stream(new SegmentedStream(lun, plan, fired));
  capture::SegmentOptions options{.segment_blocks = plan.segment_blocks};
  options.make = [self = stream.get()](uint64_t number, const capture::OnPrepared& made) {
    self->Prepare(number, made);
  };
  options.keeper.window = stream->Window();
  options.keeper.pin = [&lun](const std::string& recording, bool writing) {
    return lun.Pin(recording, writing);
  };
  // The node's catalog is not simulated: what it would write of the end is left out.
  options.conclude = [&lun](const capture::StreamEnd& /*end*/, dataplane::Task done) {
    lun.executor().Post(std::move(done));
  };
  TD_ASSIGN_OR_RETURN(capture::ArmedRecording first, stream->MakeSegment(0));
  auto sink =
      std::make_unique<capture::SegmentSink>(std::move(options), std::move(first), triggers);
  stream->port_ = sink->port();
  SinkEvents events{
      .on_taken = [self = stream.get()](const auto& header) { self->OnTaken(header); },
      .on_again = [fired] { ++(*fired)["block that came twice"]; },
      .on_held_back = [fired] { ++(*fired)["block held back"]; }};
  stream->sink_ = std::make_unique<WatchedSink>(std::move(sink), std::move(events));
  stream->pump_.emplace(lun.executor(), *stream, *stream->sink_, dataplane::CommitLevel::kDurable,
                        stream.get());
  stream->pump_->Start();
  return stream;
}

capture::TriggerWindow SegmentedStream::Window() const {
  const uint64_t samples = plan_.trigger_blocks * plan_.block_bytes / kSampleBytes;
  return {.before_samples = samples,
          .after_samples = samples,
          .block_bytes = plan_.block_bytes,
          .sample_bytes = kSampleBytes};
}

absl::StatusOr<capture::ArmedRecording> SegmentedStream::MakeSegment(uint64_t number) {
  EXPECT_EQ(number, segments_.size());
  Take take{.stream = stream_, .first = number * plan_.segment_blocks};
  take.manifest.block_bytes = plan_.block_bytes;
  for (uint64_t i = 0; i < plan_.segment_blocks; ++i) {
    if (arrived_.contains(take.first + i) && !ComesMissing(take.first + i)) take.came.insert(i);
  }
  TD_ASSIGN_OR_RETURN(Made made, lun_.Make(std::move(take), plan_.segment_blocks));
  stream_ = made.take->stream;
  segments_.push_back(made.take);
  ++fired_["segment"];
  return std::move(made.recording);
}

void SegmentedStream::Prepare(uint64_t number, const capture::OnPrepared& made) {
  auto make = lifetime_.Guard([this, number, made] {
    auto recording = MakeSegment(number);
    if (!recording.ok()) return made(recording.status());
    made(capture::ArmRecording(
        [armed = *std::move(recording)]() mutable { return std::move(armed); }));
  });
  if (lun_.Random() % 2 == 0) return make();
  ++fired_["segment that had to be waited for"];
  lun_.executor().Post(std::move(make));
}

bool SegmentedStream::ComesMissing(uint64_t sequence) const {
  return Join(stream_, sequence) % 16 == 0;
}

dataplane::BlockHeader SegmentedStream::HeaderOf(uint64_t sequence) const {
  return {.sequence = sequence,
          .sample_index = sequence * plan_.block_bytes / kSampleBytes,
          .payload_bytes = static_cast<uint32_t>(plan_.block_bytes)};
}

void SegmentedStream::Turn() {
  if (done_) return;
  if (arrivals_ >= plan_.lost_at && !std::exchange(lost_, true)) {
    pump_->Abort(absl::UnavailableError("the peer is lost"));
  }
  if (asleep_ && lun_.Random() % plan_.turns_per_wake == 0) {
    asleep_ = false;
    waker_();
  }
}

absl::StatusOr<Flow> SegmentedStream::Pull(dataplane::Block* block) {
  asleep_ = true;
  if (arrivals_ >= plan_.lost_at || lun_.Random() % 3 == 0) return Flow::kNotNow;
  if (!next_.has_value()) next_ = rails_.Next();
  if (!next_.has_value()) return Flow::kEnd;
  if (ComesMissing(*next_)) {
    *block = dataplane::Block::Missing(HeaderOf(*next_));
    ++fired_["block without payload"];
  } else {
    auto slot = ring_->Take();
    if (!slot.has_value()) return Flow::kNotNow;
    *block = *std::move(slot);
    block->header() = HeaderOf(*next_);
    FillBlock(stream_, *next_, block->payload());
    block->header().crc32c = dataplane::Crc32c(block->payload());
    const uint64_t number = *next_ / plan_.segment_blocks;
    if (number < segments_.size()) segments_[number]->came.insert(*next_ % plan_.segment_blocks);
  }
  asleep_ = false;
  arrived_.insert(*next_);
  next_.reset();
  ++arrivals_;
  return Flow::kMoved;
}

void SegmentedStream::OnTaken(const dataplane::BlockHeader& header) {
  const uint64_t number = header.sequence / plan_.segment_blocks;
  if (IsDropped(header.sequence)) {
    ++fired_["block dropped behind the last segment"];
    return;
  }
  if (sink_->watermarks().received / plan_.segment_blocks < number) {
    ++fired_["block before an earlier segment was whole"];
  }
  for (const services::Capture& capture : captures_) {
    if (Touches(header.sequence, capture)) segments_[number]->wanted = true;
  }
}

void SegmentedStream::Acknowledge(uint64_t watermark) {
  EXPECT_GE(watermark, durable_) << "the watermark goes back";
  WriteDown();
  EXPECT_EQ(watermark, durable_);
}

void SegmentedStream::WriteDown() {
  const uint64_t durable = sink_->watermarks().durable;
  EXPECT_GE(durable, durable_) << "the watermark goes back";
  for (; durable_ < durable; ++durable_) {
    EXPECT_TRUE(arrived_.contains(durable_)) << "durable, and never came: " << durable_;
    const uint64_t number = durable_ / plan_.segment_blocks;
    ASSERT_LT(number, segments_.size()) << "durable in no segment: " << durable_;
    segments_[number]->acknowledged = durable_ % plan_.segment_blocks + 1;
  }
}

bool SegmentedStream::IsDropped(uint64_t sequence) const {
  return sequence / plan_.segment_blocks >= segments_.size();
}

bool SegmentedStream::Touches(uint64_t sequence, const services::Capture& capture) const {
  const dataplane::BlockHeader header = HeaderOf(sequence);
  return header.sample_index < capture.end_sample && Window().EndOf(header) > capture.first_sample;
}

void SegmentedStream::OnCaught(const capture::Caught& caught) {
  const std::vector<std::string>& recordings = caught.capture.recordings;
  for (const uint64_t sequence : sink_->taken()) {
    if (IsDropped(sequence) || !Touches(sequence, caught.capture)) continue;
    const Take& take = *segments_[sequence / plan_.segment_blocks];
    EXPECT_TRUE(std::ranges::count(recordings, take.path.recording) == 1)
        << "block " << sequence << " was there, and is not in the capture";
  }
  for (Take* take : segments_) {
    if (std::ranges::count(recordings, take->path.recording) == 0) continue;
    if (std::ranges::count(caught.to_keep, take->path.recording) > 0) continue;
    take->wanted = true;
  }
  captures_.push_back(caught.capture);
}

void SegmentedStream::OnPumpDone(const absl::Status& cause) {
  done_ = true;
  result_ = cause;
}

std::set<uint64_t> SegmentedStream::TakenInto(const Take& take) const {
  std::set<uint64_t> blocks;
  for (const uint64_t i : take.came) {
    if (sink_->taken().contains(take.first + i)) blocks.insert(i);
  }
  return blocks;
}

void SegmentedStream::CheckSegment(const Take& take, bool sound) {
  SCOPED_TRACE(take.path.recording);
  if (!result_.ok() && !sound) return;
  EXPECT_NE(take.state, Take::State::kOpen) << "it was left open";
  if (take.state != Take::State::kClosed) return;
  EXPECT_EQ(take.held, TakenInto(take));
  const auto first = sink_->taken().lower_bound(take.first);
  const auto end = sink_->taken().lower_bound(take.first + take.manifest.blocks);
  const auto taken = static_cast<uint64_t>(std::distance(first, end));
  if (taken < take.manifest.blocks) ++fired_["segment closed with holes"];
}

void SegmentedStream::CheckEnd(bool sound) {
  WriteDown();
  if (result_.ok()) {
    EXPECT_EQ(durable_, plan_.blocks);
    ++fired_["stream that ended whole"];
  } else if (absl::IsUnavailable(result_)) {
    ++fired_["stream that lost its peer"];
  } else {
    const auto reason = services::ReasonOf(result_);
    ASSERT_TRUE(reason.has_value()) << result_;
    ++fired_["stream that ended with " + reason->reason];
    EXPECT_TRUE(reason->reason == "LUN_FULL" || !sound) << result_;
    EXPECT_TRUE(absl::StrContains(result_.message(), "full") ||
                absl::StrContains(result_.message(), "no space") ||
                absl::StrContains(result_.message(), "Input/output error"))
        << result_;
  }
  // However its blocks overtake each other, it ends at an exact block.
  if (absl::IsResourceExhausted(result_) && sound) {
    EXPECT_EQ(durable_, segments_.size() * plan_.segment_blocks);
  }
  for (const Take* take : segments_) CheckSegment(*take, sound);
}

}  // namespace tapedeck::sim
