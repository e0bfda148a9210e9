// Attaching and trying offline LUNs take turns.
#include "storage_node/luns/opening_turns.h"

#include <gtest/gtest.h>

#include <future>

namespace tapedeck::storage_node {
namespace {

TEST(OpeningTurnsTest, NothingIsTriedWhileALunIsAttached) {
  luns::OpeningTurns turns;
  auto one = turns.ForAttaching();
  const auto other = turns.ForAttaching();
  EXPECT_EQ(turns.ForTrying(), nullptr);
  one = nullptr;
  EXPECT_EQ(turns.ForTrying(), nullptr) << "the other is still at it";
}

TEST(OpeningTurnsTest, AttachingWaitsForWhatIsTried) {
  luns::OpeningTurns turns;
  auto tried = turns.ForTrying();
  ASSERT_NE(tried, nullptr);
  EXPECT_NE(turns.ForTrying(), nullptr) << "several LUNs are tried at a time";
  auto attaching = std::async(std::launch::async, [&] { return turns.ForAttaching(); });
  EXPECT_EQ(attaching.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(turns.ForTrying(), nullptr) << "nothing new, while it waits";
  tried = nullptr;
  EXPECT_NE(attaching.get(), nullptr);
}

TEST(OpeningTurnsTest, AttachingGoesOnBesideADiskThatHangs) {
  luns::OpeningTurns turns;
  const auto hanging = turns.ForTrying();
  EXPECT_NE(turns.ForAttaching(), nullptr);
}

}  // namespace
}  // namespace tapedeck::storage_node
