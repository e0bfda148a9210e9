// What moves that were broken off have left: each state that a kill can leave goes on to one whole
// recording, and what is not the policy's own is left alone.
#include <gtest/gtest.h>

#include "storage_node/moving/move_drafts.h"
#include "tests/storage_node/moving/mover_fixture.h"

namespace tapedeck::storage_node {
namespace {

class BrokenOffTest : public MoverTest {
 protected:
  BrokenOffTest() : name_(node_.RecordAndSeal(12, 3)) {
    services::Channel channel = *node_.node().channels().GetChannel(kFrom);
    channel.name = kTo;
    EXPECT_TRUE(node_.node().channels().CreateChannel(channel, "").ok());
    uid_ = node_.Get(name_).uid;
  }

  const std::string& Draft() const { return uid_; }

  // The policy is in force, and it is late.
  void GoOn() {
    ASSERT_TRUE(SetPolicy("luns/deep").ok());
    After();
  }

  // One that is whole, under its old name, and no draft.
  void ExpectMoved() {
    ASSERT_NE(MovedTo(name_), "");
    EXPECT_EQ(node_.PlayAll(MovedTo(name_), 3).size(), 12u);
    EXPECT_EQ(node_.Get(MovedTo(name_)).origin.move_draft, "");
    EXPECT_EQ(Count(kFrom), 0u);
  }

  const std::string name_;
  std::string uid_;
};

TEST_F(BrokenOffTest, ADraftThatDidNotGetToItsEndIsDeleted) {
  const std::string draft = Copy(name_, 5, absl::AbortedError("killed"), 3, Draft());
  GoOn();
  ExpectMoved();
  EXPECT_EQ(Count(kTo), 1u);
}

TEST_F(BrokenOffTest, ADraftThatSomebodyKeepsStays) {
  const std::string draft = Copy(name_, 5, absl::AbortedError("killed"), 3, Draft());
  ASSERT_TRUE(node_.node().recorder().KeepRecording(draft, true).ok());
  GoOn();
  EXPECT_TRUE(IsThere(draft));
  EXPECT_EQ(Count(kTo), 2u);
  EXPECT_EQ(Count(kFrom), 0u);
}

TEST_F(BrokenOffTest, ADraftThatIsWholeIsUsed) {
  const std::string draft = Copy(name_, 12, absl::OkStatus(), 3, Draft());
  const std::string uid = node_.Get(draft).uid;
  GoOn();
  ExpectMoved();
  EXPECT_EQ(node_.Get(MovedTo(name_)).uid, uid);
  EXPECT_EQ(Count(kTo), 1u);
}

TEST_F(BrokenOffTest, ACopyThatSomebodyMadeIsUsed) {
  const std::string copy = Copy(name_, 12, absl::OkStatus(), 3, "");
  const std::string uid = node_.Get(copy).uid;
  GoOn();
  ExpectMoved();
  EXPECT_EQ(node_.Get(MovedTo(name_)).uid, uid);
}

TEST_F(BrokenOffTest, ADraftWithOtherBytesIsDeleted) {
  Copy(name_, 12, absl::OkStatus(), 4, Draft());
  GoOn();
  ExpectMoved();
  EXPECT_EQ(Count(kTo), 1u);
}

TEST_F(BrokenOffTest, WhatSomebodyElseLeftStays) {
  const std::string unfinished = Copy(name_, 5, absl::AbortedError("killed"), 3, "");
  const std::string other = Copy(name_, 12, absl::OkStatus(), 4, "");
  GoOn();
  EXPECT_TRUE(IsThere(unfinished));
  EXPECT_TRUE(IsThere(other));
  EXPECT_EQ(Count(kTo), 3u);
  EXPECT_EQ(Count(kFrom), 0u);
}

// Nothing tells an original that was lost from one that was deleted: what is left has its blocks.
TEST_F(BrokenOffTest, ADraftWhoseOriginalIsNoMoreStays) {
  const std::string draft = Copy(name_, 5, absl::AbortedError("killed"), 3, Draft());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(name_).ok());
  Restart();
  After();
  EXPECT_TRUE(IsThere(draft));
  EXPECT_EQ(node_.Get(draft).state, services::RecordingState::kSalvaged);
}

TEST_F(BrokenOffTest, TheNodeEndsWhileItMoves) {
  ASSERT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, 1 << 20).ok());
  clock_->shift_ns += 2 * kHourNs;
  // On the node's own thread.
  ASSERT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 1; }));
  Restart();
  EXPECT_TRUE(IsThere(name_));
  GoOn();
  ExpectMoved();
  EXPECT_EQ(Count(kTo), 1u);
}

}  // namespace
}  // namespace tapedeck::storage_node
