// Order of commit and watermarks of the writer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/recording/writer_fixture.h"

namespace tapedeck::storage_node {
namespace {

TEST_F(WriterTest, DataThenIndexThenFlushThenWatermark) {
  ASSERT_TRUE(Push(0).ok());
  EXPECT_EQ(writer_->watermarks(), (dataplane::Watermarks{.received = 1}));
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks(),
            (dataplane::Watermarks{.received = 1, .written = 1, .durable = 1}));
  EXPECT_THAT(disk_.log, testing::ElementsAre("data 0", "index 1", "flush"));
  bool later = false;
  executor_.PostAfter(60 * dataplane::kMillisecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(disk_.log.back(), "watermark");
}

TEST_F(WriterTest, DurableNeverPassesWhatTheFlushCovered) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks(),
            (dataplane::Watermarks{.received = 2, .written = 2, .durable = 0}));
  ASSERT_EQ(disk_.owed.size(), 1u) << "one flush at a time";
  disk_.held.clear();
  disk_.owed.front().second();
  EXPECT_EQ(writer_->watermarks().durable, 1u);
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 2u);
}

TEST_F(WriterTest, SlowFlushesAreSharedButNeverWaitLongerThanThePeriod) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  // The flush takes a second: from now on the longest wait applies.
  bool later = false;
  executor_.PostAfter(dataplane::kSecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  disk_.owed.front().second();
  disk_.owed.clear();
  disk_.held.clear();
  executor_.RunReady();
  const int64_t written_ns = executor_.clock().NowNs();
  ASSERT_TRUE(Push(1).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 1u) << "waits for company";
  executor_.RunUntil([&] { return writer_->watermarks().durable == 2; });
  EXPECT_EQ(executor_.clock().NowNs() - written_ns, recording::kFlushPeriodNs);
}

TEST_F(WriterTest, HalfTheRingUnflushedDoesNotWait) {
  disk_.held = {"flush"};
  ASSERT_TRUE(Push(0).ok());
  executor_.RunReady();
  bool later = false;
  executor_.PostAfter(dataplane::kSecondNs, [&] { later = true; });
  executor_.RunUntil([&] { return later; });
  disk_.owed.front().second();
  disk_.held.clear();
  executor_.RunReady();
  for (uint64_t i = 1; i <= 7; ++i) ASSERT_TRUE(Push(i).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 1u);
  ASSERT_TRUE(Push(8).ok());
  executor_.RunReady();
  EXPECT_EQ(writer_->watermarks().durable, 9u);
}

}  // namespace
}  // namespace tapedeck::storage_node
