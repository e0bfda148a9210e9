// The spans of a session, which of its blocks are slow, and that none stays open.
#include "services/session/transfer/session_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "services/session/transfer/traced_source.h"
#include "tests/services/base/trace/traced.h"
#include "tests/sim/ends.h"

namespace tapedeck::services::session {
namespace {

namespace trace = telemetry::trace;

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int64_t kMs = dataplane::kMillisecondNs;

TEST(SessionTraceTest, StepsFollowEachOther) {
  trace::Traced traced;
  SessionTrace session(traced.root(), Direction::kRecord);
  session.Step("open");
  traced.clock.now_ns += 5;
  session.Step("register");
  session.Step();
  session.End({.blocks = 7, .bytes = 70});
  const trace::SpanBatch spans = traced.Take();
  ASSERT_THAT(trace::NamesOf(spans), ElementsAre("open", "register", "session"));
  EXPECT_EQ(spans[0]->end_ns - spans[0]->start_ns, 5);
  EXPECT_EQ(spans[0]->parent, spans[2]->context.span_id);
  for (const auto& span : spans) EXPECT_TRUE(span->status.ok());
}

TEST(SessionTraceTest, ConnectionsAreSpansAndTheirLaterFateEvents) {
  trace::Traced traced;
  SessionTrace session(traced.root(), Direction::kRecord);
  session.Connecting("r0", 0);
  session.Connecting("r1", 0);
  session.Up("r0", 0);
  session.Down("r1", 0, absl::UnavailableError("no port"));
  session.Connecting("r1", 0);  // again: no first time
  session.Up("r1", 0);
  session.End({});
  const trace::SpanBatch spans = traced.Take();
  ASSERT_THAT(trace::NamesOf(spans), ElementsAre("connect", "connect", "session"));
  EXPECT_TRUE(spans[0]->status.ok());
  EXPECT_TRUE(absl::IsUnavailable(spans[1]->status));
  std::vector<std::string> events;
  for (const auto& event : spans[2]->events) events.push_back(event.name);
  EXPECT_THAT(events, ElementsAre("rail up", "rail down", "rail up"));
}

TEST(SessionTraceTest, TheFirstErrorEndsWhatIsOpen) {
  trace::Traced traced;
  SessionTrace session(traced.root(), Direction::kPlayback);
  session.Step("first block");
  session.Connecting("r0", 0);
  session.Fail(absl::UnavailableError("first"));
  session.Fail(absl::InternalError("second"));
  session.End({});
  const trace::SpanBatch spans = traced.Take();
  EXPECT_THAT(trace::NamesOf(spans), ElementsAre("first block", "connect", "session"));
  for (const auto& span : spans) EXPECT_EQ(span->status.message(), "first");
}

TEST(SessionTraceTest, OneThatIsDroppedLeavesNothingOpen) {
  trace::Traced traced;
  {
    SessionTrace session(traced.root(), Direction::kRecord);
    session.Step("admit");
    session.Connecting("r0", 0);
  }
  const trace::SpanBatch spans = traced.Take();
  EXPECT_THAT(trace::NamesOf(spans), UnorderedElementsAre("admit", "connect", "session"));
  for (const auto& span : spans) EXPECT_TRUE(absl::IsAborted(span->status));
}

TEST(SlowTimesTest, ASecondIsAlwaysSlow) {
  SlowTimes times;
  EXPECT_FALSE(times.Observe(kMs));
  EXPECT_FALSE(times.Observe(999 * kMs));
  EXPECT_TRUE(times.Observe(1000 * kMs));
}

TEST(SlowTimesTest, LaterWhatIsRareIs) {
  SlowTimes times;
  for (uint64_t i = 0; i < 10'000; ++i) EXPECT_FALSE(times.Observe(20 * kMs)) << i;
  EXPECT_FALSE(times.Observe(20 * kMs));
  EXPECT_TRUE(times.Observe(40 * kMs));
}

TEST(SlowTimesTest, WhatNobodyNoticesIsNot) {
  SlowTimes times;
  for (uint64_t i = 0; i < 10'000; ++i) times.Observe(kMs / 10);
  EXPECT_FALSE(times.Observe(4 * kMs));
  EXPECT_TRUE(times.Observe(6 * kMs));
}

class TracedSourceTest : public testing::Test {
 protected:
  // A source of more blocks than are told of.
  static constexpr uint64_t kBlocks = 100;

  trace::Traced traced_;
  std::shared_ptr<dataplane::MemoryPool> ring_ =
      *dataplane::MemoryPool::Create(*dataplane::host::Create(4 << 16), 1 << 16);
  sim::PatternSource pattern_{ring_, kBlocks};
  SessionTrace session_{traced_.root(), Direction::kRecord};
  TracedSource source_{pattern_, traced_.clock, session_};
};

TEST_F(TracedSourceTest, TellsOfSlowBlocksAndOfSoManyAtMost) {
  session_.Step("first block");
  for (uint64_t i = 0; i < kBlocks; ++i) {
    dataplane::Block block;
    ASSERT_EQ(*source_.Pull(&block), dataplane::Flow::kMoved);
    if (i % 2 == 0) traced_.clock.now_ns += dataplane::kSecondNs;
    source_.Acknowledge(i + 1);
    source_.Acknowledge(i + 1);
  }
  session_.End({});
  const trace::SpanBatch spans = traced_.Take();
  EXPECT_THAT(spans, SizeIs(1 + SessionTrace::kMaxSlowBlocks + 1));
  EXPECT_EQ(spans.front()->name, "first block");
  const trace::SpanData& slow = *spans[2];
  EXPECT_EQ(slow.name, "slow block");
  EXPECT_EQ(slow.end_ns - slow.start_ns, dataplane::kSecondNs);
  ASSERT_THAT(slow.attributes, SizeIs(1));
  EXPECT_EQ(std::get<int64_t>(slow.attributes[0].value), 2);
  EXPECT_EQ(spans.back()->attributes.back().key, "tapedeck.slow_blocks");
  EXPECT_EQ(std::get<int64_t>(spans.back()->attributes.back().value),
            static_cast<int64_t>(kBlocks / 2));
}

}  // namespace
}  // namespace tapedeck::services::session
