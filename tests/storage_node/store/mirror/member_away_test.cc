// One of two members goes away and comes back: recording goes on, the LUN says so, and a scrub
// makes both copies whole.
#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using testing::HasSubstr;

class MemberAway : public MirrorTest, public testing::WithParamInterface<int> {
 protected:
  int member() const { return GetParam(); }
  int other() const { return 1 - GetParam(); }

  // Records the first blocks on both, the next on one.
  std::string RecordWhileItGoes() {
    auto recorder = *deck_.Record();
    PushDurably(recorder, 0, 20);
    MoveAway(member());
    PushDurably(recorder, 20, 20);
    EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
    EXPECT_THAT(Lun().cause, HasSubstr(Member(member())));
    PushDurably(recorder, 40, 20);
    EXPECT_TRUE(recorder.Finish().ok());
    return recorder.admission.accept.recording;
  }
};

TEST_P(MemberAway, RecordingGoesOnAndTheScrubMakesItWhole) {
  const std::string recording = RecordWhileItGoes();
  ExpectPlays(recording, 60);
  EXPECT_EQ(Scrub().state, services::ScrubState::kDone);
  EXPECT_EQ(Lun().state, LunState::kDegraded) << "there is nothing to mend it on";
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  ExpectScrubMends();
  ExpectSameData(recording);
  EXPECT_FALSE(fs::exists(Member(other()) + "/.tapedeck/behind.json"));
  ExpectPlays(recording, 60);
}

TEST_P(MemberAway, WhatIsRecordedAfterItIsBackIsOnBoth) {
  const std::string first = RecordWhileItGoes();
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  auto recorder = *deck_.Record();
  PushDurably(recorder, 0, 20);
  // It is left alone while it is written, and on both.
  ExpectScrubMends();
  PushDurably(recorder, 20, 20);
  ASSERT_TRUE(recorder.Finish().ok());
  ExpectSameData(first);
  ExpectSameData(recorder.admission.accept.recording);
}

TEST_P(MemberAway, AScrubBesideARecordingOnOneCopyIsNotTheLast) {
  auto recorder = *deck_.Record();
  PushDurably(recorder, 0, 20);
  MoveAway(member());
  PushDurably(recorder, 20, 20);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  EXPECT_EQ(Scrub().state, services::ScrubState::kDone);
  EXPECT_EQ(Lun().state, LunState::kDegraded) << "one is still recorded on one copy";
  PushDurably(recorder, 40, 20);
  ASSERT_TRUE(recorder.Finish().ok());
  ExpectScrubMends();
  ExpectSameData(recorder.admission.accept.recording);
}

TEST_P(MemberAway, OneThatIsBackBeforeAnythingWasWrittenLacksNothing) {
  const std::string recording = deck_.RecordAndSeal(20);
  deck_.Stop();
  MoveAway(member());
  deck_.Start();
  EXPECT_TRUE(Becomes(LunState::kDegraded, Member(member())));
  ExpectPlays(recording, 20);
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kReady));
}

TEST_P(MemberAway, ANodeStartsWithOne) {
  const std::string before = deck_.RecordAndSeal(20);
  deck_.Stop();
  MoveAway(member());
  deck_.Start();
  const std::string recording = deck_.RecordAndSeal(30);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is behind since"));
  deck_.Stop();
  PutBack(member());
  deck_.Start();
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  ExpectPlays(before, 20);
  ExpectPlays(recording, 30);
  ExpectScrubMends();
  ExpectSameData(recording);
  deck_.Stop();
  MoveAway(other());
  deck_.Start();
  ExpectPlays(recording, 30);
}

TEST_P(MemberAway, WhatWasDeletedMeanwhileStaysDeleted) {
  const std::string recording = deck_.RecordAndSeal(20);
  const std::string kept = deck_.RecordAndSeal(20);
  MoveAway(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  ASSERT_TRUE(deck_.node().recordings().DeleteRecording(recording).ok());
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  EXPECT_TRUE(fs::exists(deck_.Directory(recording, member())));
  ExpectScrubMends();
  EXPECT_FALSE(fs::exists(deck_.Directory(recording, member())));
  ExpectSameData(kept);
}

TEST_P(MemberAway, ChannelsAreOnBothInTheEnd) {
  deck_.MakeChannel("old", dataplane::CommitLevel::kDurable);
  MoveAway(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  deck_.MakeChannel("new", dataplane::CommitLevel::kDurable);
  ASSERT_TRUE(deck_.node().channels().DeleteChannel("luns/l/channels/old").ok());
  PutBack(member());
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  ExpectScrubMends();
  EXPECT_EQ(TextOf(Member(0) + "/new/channel.json"), TextOf(Member(1) + "/new/channel.json"));
  EXPECT_FALSE(fs::exists(Member(member()) + "/old"));
  deck_.Stop();
  MoveAway(other());
  deck_.Start();
  EXPECT_EQ(deck_.node().channels().ListChannels("luns/l")->size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Members, MemberAway, testing::Values(0, 1));

}  // namespace
}  // namespace tapedeck::storage_node
