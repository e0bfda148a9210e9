// What the storage node does for a session or a call is told of below it: seals, captures, scrubs
// and repairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/base/trace/traced.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace trace = services::telemetry::trace;

using ::testing::SizeIs;

class TracedWork : public testing::Test {
 protected:
  // The spans of that name that have ended below `above_`.
  std::vector<const trace::SpanData*> Below(absl::string_view name) {
    for (auto& span : traced_.Take()) ended_.push_back(std::move(span));
    std::vector<const trace::SpanData*> spans;
    for (const auto& span : ended_) {
      if (span->name == name && span->parent == above_.context().span_id)
        spans.push_back(span.get());
    }
    return spans;
  }
  static std::string RecordingOf(const trace::SpanData& span) {
    for (const trace::Attribute& attribute : span.attributes) {
      if (attribute.key == "tapedeck.recording") return std::get<std::string>(attribute.value);
    }
    return "(none)";
  }

  trace::Traced traced_;
  trace::SpanBatch ended_;
  trace::Span above_ = traced_.root().Start("above");
  NodeFixture node_{"posix", 2};
};

TEST_F(TracedWork, Seal) {
  auto recorder = *node_.Record({.trace = above_.branch()});
  ASSERT_TRUE(recorder.Push(0).ok());
  EXPECT_THAT(Below("seal"), SizeIs(0));
  ASSERT_TRUE(recorder.Finish().ok());
  const auto seals = Below("seal");
  ASSERT_THAT(seals, SizeIs(1));
  EXPECT_TRUE(seals[0]->status.ok());
  EXPECT_EQ(RecordingOf(*seals[0]), recorder.admission.accept.recording);
}

// The session died: what it holds is sealed all the same.
TEST_F(TracedWork, SealAfterAFailure) {
  auto recorder = *node_.Record({.trace = above_.branch()});
  ASSERT_TRUE(recorder.Push(0).ok());
  recorder.Finish(absl::UnavailableError("the worker is gone")).IgnoreError();
  EXPECT_THAT(Below("seal"), SizeIs(1));
}

TEST_F(TracedWork, ScrubAndRepair) {
  const std::string recording = node_.RecordAndSeal(20);
  FlipBit(node_.Directory(recording, 1) + "/index", 4096 * 3 + 9);
  services::ScrubStart start{.parent = "luns/l", .rate_bytes_per_s = uint64_t{1} << 40};
  start.trace = above_.branch();
  ASSERT_TRUE(node_.node().scrubs().StartScrub(start).ok());
  EXPECT_EQ(node_.EndScrub("luns/l").repaired, 1u);
  const auto scrubs = Below("scrub");
  ASSERT_THAT(scrubs, SizeIs(1));
  EXPECT_TRUE(scrubs[0]->status.ok());
  const trace::SpanData* repair = trace::Named(ended_, "repair");
  ASSERT_NE(repair, nullptr);
  EXPECT_EQ(repair->parent, scrubs[0]->context.span_id);
  EXPECT_EQ(RecordingOf(*repair), recording);
}

TEST_F(TracedWork, Capture) {
  constexpr char kChannel[] = "luns/l/channels/t";
  ASSERT_TRUE(node_.node()
                  .channels()
                  .CreateChannel({.name = kChannel,
                                  .block_bytes = kBlockBytes,
                                  .datatype = "cf32_le",
                                  .sample_rate = 1000,
                                  .commit = dataplane::CommitLevel::kReceived,
                                  .pre_trigger_ns = 2'000'000'000,
                                  .post_trigger_ns = 2'000'000'000},
                                 "")
                  .ok());
  auto recorder = *node_.Record({.channel = kChannel});
  for (uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(recorder.Push(i).ok());
  services::Trigger trigger;
  trigger.trace = above_.branch();
  const auto captures =
      node_.Meanwhile([&] { return node_.node().recorder().TriggerRecording(kChannel, trigger); });
  ASSERT_TRUE(captures.ok()) << captures.status();
  EXPECT_THAT(Below("capture"), SizeIs(0)) << "its end is still to come";
  for (uint64_t i = 8; i < 16; ++i) ASSERT_TRUE(recorder.Push(i).ok());
  const auto spans = Below("capture");
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_TRUE(spans[0]->status.ok());
  EXPECT_EQ(RecordingOf(*spans[0]), captures->front().recording);
  ASSERT_TRUE(recorder.Finish().ok());
}

}  // namespace
}  // namespace tapedeck::storage_node
