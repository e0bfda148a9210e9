// A policy that ends or changes while it moves, or that leads back; what is kept meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/storage_node/moving/mover_fixture.h"

namespace tapedeck::storage_node {
namespace {

using testing::HasSubstr;

class PolicyChangesTest : public MoverTest {
 protected:
  static constexpr uint64_t kSlow = 1 << 20;

  // A recording whose move takes so long at kSlow that it does not end meanwhile.
  std::string BeginMove() {
    std::string name = node_.RecordAndSeal(1000);
    EXPECT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, kSlow).ok());
    clock_->shift_ns += 2 * kHourNs;
    EXPECT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 1; }));
    return name;
  }
};

TEST_F(PolicyChangesTest, OneThatEndsEndsTheMoveUnderWay) {
  const std::string name = BeginMove();
  ASSERT_TRUE(SetPolicy("", 0).ok());
  ASSERT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 0; }));
  EXPECT_EQ(MovedTo(name), "");
  // The move lets go of it a moment after its draft is gone.
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().recordings().DeleteRecording(name).ok(); }));
}

TEST_F(PolicyChangesTest, AnotherRateCountsAtOnce) {
  const std::string name = BeginMove();
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  ASSERT_TRUE(node_.executor().RunUntil([&] { return MovedTo(name) != ""; }));
  EXPECT_TRUE(node_.Verify(MovedTo(name)).empty());
}

TEST_F(PolicyChangesTest, WhatIsKeptMeanwhileStaysAndLeavesNothingThere) {
  const std::string name = node_.RecordAndSeal(16);
  ASSERT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, kSlow).ok());
  clock_->shift_ns += 2 * kHourNs;
  ASSERT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 1; }));
  ASSERT_TRUE(node_.node().recorder().KeepRecording(name, true).ok());
  ASSERT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 0; }));
  EXPECT_TRUE(IsThere(name));
  node_.node().mover().Look();
  EXPECT_EQ(Waiting(), 0u);
}

TEST_F(PolicyChangesTest, NoneIsSoSlowThatAllOthersWait) {
  const absl::Status slow = SetPolicy("luns/deep", kHourNs, kFrom, 999'999);
  EXPECT_EQ(Reason(slow), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(slow.message()), HasSubstr("move_rate_bytes_per_second"));
  EXPECT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, 1'000'000).ok());
  EXPECT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, 0).ok());
}

TEST_F(PolicyChangesTest, AnotherOneIsTriedWithoutWaiting) {
  MakeLun("deeper");
  MakeForeignChannel();
  const std::string name = node_.RecordAndSeal(4);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  ASSERT_TRUE(IsThere(name));
  ASSERT_TRUE(SetPolicy("luns/deeper").ok());
  node_.node().mover().Look();
  EXPECT_THAT(MovedTo(name), HasSubstr("luns/deeper/"));
}

// As one that failed before, whatever the wall clock says.
TEST_F(PolicyChangesTest, AStepOfTheClockCountsAtOnceAndHoldsNothingUp) {
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  clock_->stepped_ns = 87'600 * kHourNs;
  node_.node().mover().Look();
  clock_->stepped_ns = 0;
  MakeForeignChannel();
  const std::string name = node_.RecordAndSeal(4);
  After();
  ASSERT_TRUE(IsThere(name)) << "its channel there is another one";
  ASSERT_TRUE(node_.node().channels().DeleteChannel(kTo).ok());
  clock_->stepped_ns = -kHourNs / 2;
  After();
  EXPECT_THAT(MovedTo(name), HasSubstr("luns/deep/"));
}

TEST_F(PolicyChangesTest, ALunThatLeadsBackWhenItComesTakesNothing) {
  const std::string name = node_.RecordAndSeal(4);
  const auto own = node_.node().channels().GetChannel(kFrom);
  services::Channel back = *own;
  back.name = kTo;
  back.move_to = "luns/l";
  back.move_after_ns = kHourNs;
  ASSERT_TRUE(node_.node().channels().CreateChannel(back, "").ok());
  ASSERT_TRUE(node_.node().luns().DetachLun("luns/deep").ok());
  services::Lun other{.name = "luns/deep", .store = "posix", .members = {node_.dir().Make("x")}};
  ASSERT_TRUE(node_.node().luns().CreateLun(other, "").ok());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  ASSERT_TRUE(node_.node().luns().DetachLun("luns/deep").ok());
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {node_.dir().path() + "/deep"}}, "").ok());
  After();
  EXPECT_TRUE(IsThere(name));
  EXPECT_EQ(Count(kTo), 0u);
  EXPECT_EQ(Waiting(), 1u);
}

}  // namespace
}  // namespace tapedeck::storage_node
