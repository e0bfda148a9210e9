// Spans: who is above whom, when they end, how much they may hold, which are recorded, and how many
// wait.
#include "services/base/trace/span.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/services/base/trace/traced.h"

namespace tapedeck::services::telemetry::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TraceContext Above(bool sampled) {
  return ParseTraceContext(
      absl::StrCat("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", sampled ? 1 : 0),
      "vendor=1");
}

TEST(SpanTest, HangsBelowTheOneAbove) {
  Traced traced;
  Span outer = Branch{.tracer = &traced.tracer, .above = Above(true)}.Start("outer");
  Span inner = outer.branch().Start("inner", SpanKind::kClient);
  traced.clock.now_ns += 500;
  inner.End();
  outer.End(absl::NotFoundError("nothing"));
  const SpanBatch spans = traced.Take();
  ASSERT_THAT(NamesOf(spans), ElementsAre("inner", "outer"));
  EXPECT_EQ(spans[1]->parent, Above(true).span_id);
  EXPECT_EQ(spans[0]->parent, spans[1]->context.span_id);
  EXPECT_EQ(spans[0]->kind, SpanKind::kClient);
  for (const auto& span : spans) {
    EXPECT_EQ(span->context.trace_id, Above(true).trace_id);
    EXPECT_EQ(span->context.state, "vendor=1");
    EXPECT_EQ(span->end_ns - span->start_ns, 500);
  }
  EXPECT_TRUE(spans[0]->status.ok());
  EXPECT_TRUE(absl::IsNotFound(spans[1]->status));
}

TEST(SpanTest, BeginsATraceWhereThereIsNone) {
  Traced traced;
  Span one = traced.root().Start("one");
  Span two = traced.root().Start("two");
  EXPECT_TRUE(one.context().valid());
  EXPECT_TRUE(one.context().sampled);
  EXPECT_NE(one.context().trace_id, two.context().trace_id);
  one.End();
  EXPECT_EQ(traced.Take().at(0)->parent, SpanId());
}

TEST(SpanTest, OneThatIsDroppedEndsAsAnError) {
  Traced traced;
  { const Span span = traced.root().Start("dropped"); }
  Span replaced = traced.root().Start("replaced");
  replaced = traced.root().Start("kept");
  const Span moved = std::move(replaced);
  const SpanBatch spans = traced.Take();
  ASSERT_THAT(NamesOf(spans), ElementsAre("dropped", "replaced"));
  for (const auto& span : spans) EXPECT_TRUE(absl::IsAborted(span->status));
  EXPECT_TRUE(moved.recording());
}

TEST(SpanTest, EndsOnce) {
  Traced traced;
  Span span = traced.root().Start("span");
  span.End();
  span.End(absl::InternalError("too late"));
  span.Set("late", true);
  span.AddEvent("late");
  EXPECT_EQ(span.branch().Start("below").context().trace_id, span.context().trace_id);
  const SpanBatch spans = traced.Take();
  ASSERT_THAT(NamesOf(spans), ElementsAre("span", "below"));
  EXPECT_TRUE(spans[0]->status.ok());
  EXPECT_THAT(spans[0]->attributes, SizeIs(0));
}

TEST(SpanTest, OfWhatBeganBefore) {
  Traced traced;
  traced.root().StartedBefore(700, "late").End();
  const SpanBatch spans = traced.Take();
  EXPECT_EQ(spans.at(0)->end_ns, traced.clock.WallNs());
  EXPECT_EQ(spans.at(0)->end_ns - spans.at(0)->start_ns, 700);
}

TEST(SpanTest, HoldsSoMuchAtMost) {
  Traced traced;
  Span span = traced.root().Start("span");
  for (size_t i = 0; i < 2 * kMaxAttributes; ++i) {
    span.Set(absl::StrCat("key", i), std::string(10'000, 'x'));
  }
  for (size_t i = 0; i < 2 * kMaxEvents; ++i) {
    span.AddEvent("event", {{"key", std::string(10'000, 'x')}});
  }
  span.End(absl::InternalError(std::string(10'000, 'x')));
  const SpanBatch spans = traced.Take();
  EXPECT_THAT(spans.at(0)->attributes, SizeIs(kMaxAttributes));
  EXPECT_EQ(spans.at(0)->dropped_attributes, kMaxAttributes);
  EXPECT_THAT(spans.at(0)->events, SizeIs(kMaxEvents));
  EXPECT_EQ(spans.at(0)->dropped_events, kMaxEvents);
  EXPECT_LT(spans.at(0)->Bytes(), 100u << 10);
}

TEST(SpanTest, WithoutATracerItOnlyPassesOn) {
  const Branch branch{.above = Above(true)};
  Span span = branch.Start("span");
  EXPECT_FALSE(span.recording());
  EXPECT_EQ(span.context(), Above(true));
  EXPECT_EQ(span.branch().Start("below").context(), Above(true));
  EXPECT_FALSE(Branch().Start("span").context().valid());
}

TEST(SpanTest, WhatIsNotSampledIsNotRecorded) {
  Traced traced;
  Span span = Branch{.tracer = &traced.tracer, .above = Above(false)}.Start("span");
  EXPECT_FALSE(span.recording());
  EXPECT_FALSE(span.context().sampled);
  EXPECT_EQ(span.context().trace_id, Above(false).trace_id);
  EXPECT_FALSE(span.branch().Start("below").recording());
  span.End();
  EXPECT_THAT(traced.Take(), SizeIs(0));
}

TEST(SamplerTest, GoesByTheTracesId) {
  const Sampler quarter{.parent_based = false, .ratio = 0.25};
  const Sampler with_parents{.parent_based = true, .ratio = 0.25};
  TraceId low{}, high{};
  low[8] = 0x3f;   // of the upper 63 bits of the last 8 bytes, just below a quarter
  high[8] = 0x40;  // and just there
  EXPECT_TRUE(quarter.Samples({}, low));
  EXPECT_FALSE(quarter.Samples({}, high));
  EXPECT_FALSE(quarter.Samples(Above(true), high));
  EXPECT_TRUE(with_parents.Samples(Above(true), high));
  EXPECT_FALSE(with_parents.Samples(Above(false), low));
  high.fill(0xff);
  EXPECT_TRUE(Sampler().Samples({}, high));
  EXPECT_FALSE((Sampler{.ratio = 0}.Samples({}, TraceId())));
}

TEST(SpanQueueTest, DropsAndCountsWhatHasNoRoom) {
  Traced traced;
  for (size_t i = 0; i < kMaxQueuedSpans + 10; ++i) traced.root().Start("span").End();
  EXPECT_EQ(traced.spans.dropped(), 10u);
  size_t taken = 0;
  for (SpanBatch batch = traced.Take(); !batch.empty(); batch = traced.Take()) {
    EXPECT_LE(batch.size(), kMaxBatchSpans);
    taken += batch.size();
  }
  EXPECT_EQ(taken, kMaxQueuedSpans);
}

TEST(SpanQueueTest, IsBoundInBytes) {
  Traced traced;
  for (size_t i = 0; i < kMaxQueuedSpans; ++i) {
    Span span = traced.root().Start("span");
    for (size_t j = 0; j < kMaxAttributes; ++j) span.Set("key", std::string(kMaxTextBytes, 'x'));
    span.End();
  }
  EXPECT_GT(traced.spans.dropped(), kMaxQueuedSpans / 2);
  size_t most = 0;
  for (SpanBatch batch = traced.Take(); !batch.empty(); batch = traced.Take()) {
    size_t bytes = 0;
    for (const auto& span : batch) bytes += span->Bytes();
    most = std::max(most, bytes);
  }
  EXPECT_LT(most, 2 * kMaxBatchBytes);
}

TEST(SpanQueueTest, AWholeBatchWakesWhoWaits) {
  Traced traced;
  std::thread taker(
      [&] { EXPECT_THAT(traced.spans.Take(absl::Hours(1)), SizeIs(kMaxBatchSpans)); });
  for (size_t i = 0; i < kMaxBatchSpans; ++i) traced.root().Start("span").End();
  taker.join();
  std::thread other([&] { EXPECT_THAT(traced.spans.Take(absl::Hours(1)), SizeIs(0)); });
  traced.spans.Close();
  other.join();
}

}  // namespace
}  // namespace tapedeck::services::telemetry::trace
