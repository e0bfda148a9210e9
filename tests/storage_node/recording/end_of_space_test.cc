// When a recording ends that has no room for the next block.
#include "storage_node/recording/writing/end_of_space.h"

#include <gtest/gtest.h>

#include "tests/storage_node/manual_executor.h"

namespace tapedeck::storage_node {
namespace {

const absl::Status kFull = absl::ResourceExhaustedError("full");

class EndOfSpaceTest : public testing::Test {
 protected:
  // No other thread posts.
  ManualExecutor executor_{absl::ZeroDuration()};
  uint64_t received_ = 0;
  int late_ = 0;
  recording::EndOfSpace end_{executor_, [this] { return received_; }, [this] { ++late_; }};

  int64_t now_ns() const { return executor_.clock().NowNs(); }
  // Blocks come half a period apart, the last as number `blocks`.
  void BlocksCome(uint64_t blocks) {
    if (received_ == blocks) return;
    executor_.PostAfter(recording::kLateBlocksNs / 2, [this, blocks] {
      ++received_;
      BlocksCome(blocks);
    });
  }
};

TEST_F(EndOfSpaceTest, AtOnceIfAllBeforeAreHere) {
  EXPECT_FALSE(end_.Excludes(UINT64_MAX - 1));
  received_ = 7;
  EXPECT_TRUE(end_.status().ok());
  end_.Set(7, kFull);
  EXPECT_EQ(end_.status(), kFull);
  EXPECT_TRUE(end_.Excludes(7));
  EXPECT_FALSE(end_.Excludes(6));
}

TEST_F(EndOfSpaceTest, TheLowestBlockAndTheFirstErrorCount) {
  end_.Set(7, kFull);
  end_.Set(5, absl::InternalError("later"));
  end_.Set(6, absl::InternalError("later"));
  EXPECT_TRUE(end_.Excludes(5));
  EXPECT_FALSE(end_.Excludes(4));
  EXPECT_TRUE(end_.status().ok());
  EXPECT_EQ(end_.why(), kFull);
  received_ = 5;
  EXPECT_EQ(end_.status(), kFull);
}

TEST_F(EndOfSpaceTest, BlocksThatComeAreWaitedFor) {
  end_.Set(20, kFull);
  BlocksCome(20);
  ASSERT_TRUE(executor_.RunUntil([&] { return !end_.status().ok(); }));
  EXPECT_EQ(received_, 20u);
  EXPECT_GE(now_ns(), 10 * recording::kLateBlocksNs);
  EXPECT_EQ(late_, 0);
}

TEST_F(EndOfSpaceTest, BlocksThatCeaseToComeAreNot) {
  end_.Set(20, kFull);
  BlocksCome(5);
  ASSERT_TRUE(executor_.RunUntil([&] { return received_ == 5; }));
  const int64_t last_ns = now_ns();
  ASSERT_TRUE(executor_.RunUntil([&] { return late_ > 0; }));
  EXPECT_EQ(end_.status(), kFull);
  EXPECT_GE(now_ns() - last_ns, recording::kLateBlocksNs);
  EXPECT_LE(now_ns() - last_ns, 2 * recording::kLateBlocksNs);
  received_ = 6;
  EXPECT_EQ(end_.status(), kFull) << "once it has ended it does not go on";
  bool later = false;
  executor_.PostAfter(10 * recording::kLateBlocksNs, [&] { later = true; });
  ASSERT_TRUE(executor_.RunUntil([&] { return later; }));
  EXPECT_EQ(late_, 1);
}

}  // namespace
}  // namespace tapedeck::storage_node
