#include "storage_node/recordings/leases.h"

#include <gtest/gtest.h>

#include <future>

#include "dataplane/deadline.h"

namespace tapedeck::storage_node {
namespace {

class LeasesTest : public testing::Test {
 protected:
  const std::shared_ptr<recordings::Leases> leases_ = std::make_shared<recordings::Leases>();
};

TEST_F(LeasesTest, PlayersShareWritersDoNot) {
  const auto one = leases_->TakeShared("l/c/r");
  const auto two = leases_->TakeShared("l/c/r");
  EXPECT_NE(one, nullptr);
  EXPECT_NE(two, nullptr);
  EXPECT_EQ(leases_->TakeExclusive("l/c/r"), nullptr);
  const auto writer = leases_->TakeExclusive("l/c/r2");
  EXPECT_NE(writer, nullptr);
  EXPECT_EQ(leases_->TakeShared("l/c/r2"), nullptr);
}

TEST_F(LeasesTest, ExclusiveExcludesAboveAndBelow) {
  auto reader = leases_->TakeShared("l/c/r");
  EXPECT_EQ(leases_->TakeExclusive("l"), nullptr);
  EXPECT_EQ(leases_->TakeExclusive("l/c"), nullptr);
  EXPECT_NE(leases_->TakeExclusive("l/c2"), nullptr);
  reader = nullptr;
  auto deleter = leases_->TakeExclusive("l");
  ASSERT_NE(deleter, nullptr);
  EXPECT_EQ(leases_->TakeShared("l/c/r"), nullptr);
  EXPECT_EQ(leases_->TakeExclusive("l/c"), nullptr);
  EXPECT_NE(leases_->TakeShared("l2/c"), nullptr);
  deleter = nullptr;
  EXPECT_NE(leases_->TakeShared("l/c/r"), nullptr);
}

TEST_F(LeasesTest, NeighboursThatSortBetweenDoNotHideChildren) {
  const auto neighbour = leases_->TakeShared("l-x");  // sorts before "l/"
  const auto child = leases_->TakeShared("l/c");
  EXPECT_EQ(leases_->TakeExclusive("l"), nullptr);
}

TEST_F(LeasesTest, TheEndOfAWriterIsWaitedFor) {
  auto writer = leases_->TakeExclusive("l/c/r");
  const auto follower = leases_->TakeBeside("l/c/r");
  EXPECT_FALSE(leases_->AwaitEnd("l/c/r", dataplane::Deadline::In(absl::Milliseconds(5))));
  auto ended = std::async(std::launch::async, [&] {
    return leases_->AwaitEnd("l/c/r", dataplane::Deadline::In(absl::Seconds(20)));
  });
  writer = nullptr;
  EXPECT_TRUE(ended.get());
  const auto deleter = leases_->TakeExclusive("l/c2");
  EXPECT_FALSE(leases_->AwaitEnd("l/c2/r", dataplane::Deadline::In(absl::ZeroDuration())))
      << "what is above it counts, too";
}

}  // namespace
}  // namespace tapedeck::storage_node
