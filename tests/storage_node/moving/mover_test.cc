// What a channel's policy moves to another LUN, and what it leaves where it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/storage_node/damage.h"
#include "tests/storage_node/moving/mover_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(MoverTest, WhatIsOldGoesWithAllThatIsKnownOfIt) {
  const std::string name = node_.RecordAndSeal(20, 7);
  ASSERT_TRUE(
      node_.node().recorder().AnnotateRecording(name, {.sample_start = 5, .label = "burst"}).ok());
  services::RecordingUpdate described{.name = name};
  described.Set(&services::Recording::description, "first light");
  ASSERT_TRUE(node_.node().recordings().UpdateRecording(described).ok());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  node_.node().mover().Look();
  EXPECT_TRUE(IsThere(name)) << "before its time";
  const services::Recording before = node_.Get(name);
  After();
  const std::string moved = MovedTo(name);
  ASSERT_EQ(moved, absl::StrCat(kTo, name.substr(name.find("/recordings/"))));
  EXPECT_EQ(node_.PlayAll(moved, 7).size(), 20u);
  EXPECT_TRUE(node_.Verify(moved).empty());
  const services::Recording after = node_.Get(moved);
  EXPECT_EQ(after.labels, before.labels);
  EXPECT_EQ(after.annotations, before.annotations);
  EXPECT_EQ(after.description, "first light");
  EXPECT_EQ(after.open_time_ns, before.open_time_ns);
  EXPECT_EQ(after.original, name);
  EXPECT_FALSE(fs::exists(node_.Directory(name)));
  EXPECT_EQ(Waiting(), 0u);
}

TEST_F(MoverTest, WhatIsNotedMeanwhileGoesToo) {
  const std::string name = node_.RecordAndSeal(8);
  ASSERT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, 1 << 20).ok());
  clock_->shift_ns += 2 * kHourNs;
  // On the node's own thread, for a second.
  ASSERT_TRUE(node_.executor().RunUntil([&] { return Count(kTo) == 1; }));
  EXPECT_EQ(Reason(node_.node().recordings().DeleteRecording(name)), "RECORDING_BUSY");
  ASSERT_TRUE(
      node_.node().recorder().AnnotateRecording(name, {.sample_start = 5, .label = "late"}).ok());
  ASSERT_TRUE(node_.executor().RunUntil([&] { return MovedTo(name) != ""; }));
  const services::Recording moved = node_.Get(MovedTo(name));
  ASSERT_EQ(moved.annotations.size(), 1u);
  EXPECT_EQ(moved.annotations[0].label, "late");
}

TEST_F(MoverTest, TheChannelThereIsLikeItsOwn) {
  node_.RecordAndSeal(1);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  const auto own = node_.node().channels().GetChannel(kFrom);
  const auto there = node_.node().channels().GetChannel(kTo);
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(there->block_bytes, own->block_bytes);
  EXPECT_EQ(there->datatype, own->datatype);
  EXPECT_EQ(there->sample_rate, own->sample_rate);
  EXPECT_EQ(there->move_to, "");
  EXPECT_EQ(there->move_after_ns, 0);
}

TEST_F(MoverTest, WhatIsKeptPlayedOrWrittenStays) {
  const std::string kept = node_.RecordAndSeal(3), played = node_.RecordAndSeal(3);
  ASSERT_TRUE(node_.node().recorder().KeepRecording(kept, true).ok());
  auto player = node_.Play(played);
  ASSERT_TRUE(player.ok());
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  EXPECT_EQ(Count(kFrom), 3u);
  EXPECT_EQ(Count(kTo), 0u);
  EXPECT_EQ(Waiting(), 1u) << "the one that is played";
  player->source = nullptr;
  ASSERT_TRUE(node_.node().recorder().KeepRecording(kept, false).ok());
  After();
  EXPECT_EQ(Count(kTo), 2u);
  EXPECT_NE(MovedTo(kept), "");
  EXPECT_NE(MovedTo(played), "");
  ASSERT_TRUE(recorder->Finish().ok());
}

TEST_F(MoverTest, WhatWasNotClosedInOrderStays) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE(recorder->Push(0).ok());
  ASSERT_TRUE(recorder->Finish(absl::AbortedError("broken off")).ok());
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  EXPECT_EQ(Count(kFrom), 1u);
}

TEST_F(MoverTest, MissingBlocksAreMissingThereToo) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok());
  for (const uint64_t i : {0, 1, 4}) ASSERT_TRUE(recorder->Push(i).ok());
  for (const uint64_t i : {2, 3}) {
    ASSERT_TRUE(recorder->Push(i, 0, dataplane::kBlockMissing).ok());
  }
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string name = recorder->admission.accept.recording;
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  const std::string moved = MovedTo(name);
  ASSERT_NE(moved, "");
  EXPECT_EQ(node_.Get(moved).missing_blocks, 2u);
  EXPECT_EQ(node_.PlayAll(moved).size(), 5u);
}

TEST_F(MoverTest, AFullLunTakesItOnceThereIsRoom) {
  MakeLun("small", 2 << 20);
  const std::string name = node_.RecordAndSeal(40);
  ASSERT_TRUE(SetPolicy("luns/small").ok());
  After();
  EXPECT_TRUE(IsThere(name));
  EXPECT_EQ(Count("luns/small/channels/c"), 0u);
  EXPECT_EQ(Waiting(), 1u);
  services::LunUpdate larger{.name = "luns/small"};
  larger.Set(&services::Lun::capacity_bytes, 64 << 20);
  ASSERT_TRUE(node_.node().luns().UpdateLun(larger, "").ok());
  After();
  EXPECT_EQ(node_.PlayAll(MovedTo(name)).size(), 40u);
}

TEST_F(MoverTest, WhatIsDamagedStaysAndHoldsUpNoOther) {
  const std::string damaged = node_.RecordAndSeal(6), whole = node_.RecordAndSeal(6);
  FlipBit(node_.Directory(damaged) + "/data", 3 * kBlockBytes + 100);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  EXPECT_TRUE(IsThere(damaged));
  EXPECT_NE(MovedTo(whole), "");
  EXPECT_EQ(Count(kTo), 1u) << "nothing is left of the other's copy";
  EXPECT_EQ(Waiting(), 1u);
}

TEST_F(MoverTest, ALunThatIsGoneIsWaitedFor) {
  const std::string name = node_.RecordAndSeal(4);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  ASSERT_TRUE(node_.node().luns().DetachLun("luns/deep").ok());
  After();
  EXPECT_TRUE(IsThere(name));
  EXPECT_EQ(Waiting(), 1u);
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {node_.dir().path() + "/deep"}}, "").ok());
  After();
  EXPECT_NE(MovedTo(name), "");
}

TEST_F(MoverTest, AChannelThatHoldsSomethingElseTakesNothing) {
  MakeForeignChannel();
  const std::string name = node_.RecordAndSeal(4);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  EXPECT_TRUE(IsThere(name));
  EXPECT_EQ(Count(kTo), 0u);
}

TEST_F(MoverTest, FromTierToTierItIsFoundUnderItsFirstName) {
  MakeLun("deepest");
  const std::string name = node_.RecordAndSeal(4);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  const std::string second = MovedTo(name);
  ASSERT_TRUE(SetPolicy("luns/deepest", kHourNs, kTo).ok());
  After();
  const std::string third = MovedTo(second);
  EXPECT_THAT(third, HasSubstr("luns/deepest/"));
  EXPECT_EQ(MovedTo(name), third);
  EXPECT_EQ(node_.PlayAll(third).size(), 4u);
  node_.Stop();
  ASSERT_TRUE(node::RebuildCatalog(node_.state_dir()).ok());
  Restart();
  EXPECT_EQ(MovedTo(name), third) << "the manifest says so";
}

TEST_F(MoverTest, WhatNoPolicyCanBe) {
  MakeLun("volatile", 8 << 20, "memory");
  const auto refused = [&](const std::string& to, int64_t after_ns = kHourNs) {
    const absl::Status status = SetPolicy(to, after_ns);
    EXPECT_EQ(node_.node().channels().GetChannel(kFrom)->move_to, "");
    return absl::StrCat(Reason(status), " ", status.message());
  };
  EXPECT_THAT(refused("luns/l"), HasSubstr("ARGUMENT_INVALID"));
  EXPECT_THAT(refused("luns/none"), HasSubstr("LUN_NOT_FOUND"));
  EXPECT_THAT(refused("luns/volatile"), HasSubstr("loses everything"));
  EXPECT_THAT(refused("127.0.0.1:7401/deep"), HasSubstr("tapectl recordings move"));
  EXPECT_THAT(refused("luns/deep", 0), HasSubstr("move_after"));
  EXPECT_THAT(refused("luns/deep", 999'999'999), HasSubstr("move_after"));
  EXPECT_THAT(refused("luns/deep", INT64_MAX), HasSubstr("move_after"));
  services::ChannelUpdate segments{.name = kFrom};
  segments.Set(&services::Channel::segment_bytes, 4 << 20);
  ASSERT_TRUE(node_.node().channels().UpdateChannel(segments, "").ok());
  EXPECT_THAT(refused("luns/deep"), HasSubstr("segments"));
}

TEST_F(MoverTest, NoPolicyBringsThemBack) {
  node_.RecordAndSeal(1);
  ASSERT_TRUE(SetPolicy("luns/deep").ok());
  After();
  const absl::Status back = SetPolicy("luns/l", kHourNs, kTo);
  EXPECT_EQ(Reason(back), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(back.message()), HasSubstr("move recordings back"));
}

}  // namespace
}  // namespace tapedeck::storage_node
