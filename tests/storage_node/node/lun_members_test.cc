// A LUN gets more members: what was recorded before stays where it is, what is recorded afterwards
// lies on all of them, and every later node finds both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "storage_node/node/check.h"
#include "tests/storage_node/node/members_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MoreMembers : public MembersFixture {
 protected:
  // Of a node that is stopped for it.
  node::CheckTotals Check() {
    node_.Stop();
    const ManualClock clock;
    const auto totals =
        node::CheckStorage(node_.state_dir(), clock, [](const node::Finding& finding) {
          ADD_FAILURE() << finding.where << " " << finding.kind << ": " << finding.detail;
        });
    EXPECT_TRUE(totals.ok()) << totals.status();
    node_.Start();
    return totals.value_or(node::CheckTotals());
  }
  void ExpectScrubbed() {
    ASSERT_TRUE(node_.node().scrubs().StartScrub({.parent = kGrownLun}).ok());
    const services::Scrub scrub = node_.EndScrub(kGrownLun);
    EXPECT_EQ(scrub.state, services::ScrubState::kDone);
    EXPECT_EQ(scrub.damaged, 0u);
    EXPECT_EQ(scrub.repaired, 0u);
  }
  uint64_t TakenBy(uint64_t blocks, uint64_t members) const {
    if (GetParam() != "device") return Takes(GetParam(), blocks, members);
    constexpr uint64_t kUnit = 4 << 20;  // of payload on each, and of the index on two
    return (members + std::min<uint64_t>(2, members)) * kUnit;
  }
};

using MoreMembersOfFiles = MoreMembers;

TEST_P(MoreMembers, OldRecordingsStayAndNewOnesLieOnAll) {
  const std::string narrow = node_.RecordAndSeal(7);
  Grow(1, 2);
  const std::string wider = node_.RecordAndSeal(7, 2);
  Grow(2, 4);
  const std::string widest = node_.RecordAndSeal(9, 3);
  const auto expect_all = [&] {
    ExpectMembers(4);
    ExpectWhole(narrow, 7);
    ExpectWhole(wider, 7, 2);
    ExpectWhole(widest, 9, 3);
    EXPECT_EQ(Get().used_bytes, TakenBy(7, 1) + TakenBy(7, 2) + TakenBy(9, 4));
  };
  expect_all();
  ExpectStriped(7, 1, 1);
  ExpectStriped(7, 2, 2);
  ExpectStriped(9, 4, 3);
  ExpectScrubbed();
  node_.Start();
  expect_all();
  EXPECT_EQ(Check().blocks, 23u);
  AttachElsewhere({member(3), member(1), member(0), member(2)});
  expect_all();
  ExpectScrubbed();
  for (const std::string& recording : {narrow, widest, wider}) {
    EXPECT_TRUE(node_.node().recordings().DeleteRecording(recording).ok());
  }
  EXPECT_EQ(Get().used_bytes, 0u);
  EXPECT_FALSE(Holds(0, 0, 1) && GetParam() != "device");
}

TEST_P(MoreMembers, TheCatalogIsRebuiltFromThem) {
  const std::string narrow = node_.RecordAndSeal(5);
  Grow(1, 3);
  const std::string wide = node_.RecordAndSeal(8, 2);
  node_.Stop();
  fs::remove_all(node_.state_dir());
  ASSERT_TRUE(node::RebuildCatalog(node_.state_dir(), {member(2), member(0), member(1)}).ok());
  node_.Start();
  ExpectMembers(3);
  ExpectWhole(narrow, 5);
  ExpectWhole(wide, 8, 2);
}

TEST_P(MoreMembers, ARecordingUnderWayGoesOnOverThoseItHas) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  Grow(1, 3);
  for (uint64_t i = 5; i < 100; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string recording = recorder->admission.accept.recording;
  recorder->admission = {};
  ExpectWhole(recording, 100);
  for (const uint64_t block : {1, 2, 50, 98}) {
    EXPECT_TRUE(Holds(0, block, 1));
    EXPECT_FALSE(Holds(1, block, 1) || Holds(2, block, 1));
  }
  EXPECT_EQ(Get().used_bytes, TakenBy(100, 1) + (GetParam() == "device" ? 4 << 20 : 0));
}

TEST_P(MoreMembers, APlaybackGoesOn) {
  const std::string recording = node_.RecordAndSeal(200);
  auto player = node_.Play(recording);
  ASSERT_TRUE(player.ok()) << player.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(node_.Pull(*player->source)->has_value());
  Grow(1, 2);
  for (int i = 5; i < 200; ++i) ASSERT_TRUE(node_.Pull(*player->source)->has_value()) << i;
  EXPECT_FALSE(node_.Pull(*player->source)->has_value());
}

// Its writer goes without a word, and the node salvages it on the members that it has.
TEST_P(MoreMembers, AnAbandonedRecordingIsSalvaged) {
  std::optional<Recorder> recorder = *node_.Record();
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return recorder->admission.sink->watermarks().durable == 20; }));
  const std::string recording = recorder->admission.accept.recording;
  Grow(1, 3);
  recorder = std::nullopt;
  node_.Start();
  EXPECT_EQ(node_.Get(recording).state, services::RecordingState::kSalvaged);
  EXPECT_EQ(node_.Get(recording).blocks, 20u);
  ExpectWhole(recording, 20);
}

TEST_P(MoreMembers, TheNextSegmentOfASessionMayLieOnThem) {
  ASSERT_TRUE(node_.node()
                  .channels()
                  .UpdateChannel(services::ChannelUpdate{.name = "luns/l/channels/c"}.Set(
                                     &services::Channel::segment_bytes, 16 * kBlockBytes),
                                 "")
                  .ok());
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const auto push = [&](uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      absl::Status status;
      EXPECT_TRUE(node_.executor().RunUntil([&] {
        status = recorder->Push(i);
        return !absl::IsInternal(status);  // not taken yet
      }));
      ASSERT_TRUE(status.ok()) << i << ": " << status;
    }
  };
  push(0, 4);
  Grow(1, 3);
  push(4, 40);
  ASSERT_TRUE(recorder->Finish().ok());
  recorder->admission = {};
  for (const uint64_t block : {0, 7, 15}) EXPECT_TRUE(Holds(0, block, 1));
  for (uint64_t block = 32; block < 40; ++block) {
    EXPECT_TRUE(Holds(static_cast<int>(block - 32) % 3, block, 1)) << block;
  }
}

TEST_P(MoreMembers, WithoutOneOfThemItIsOffline) {
  const std::string narrow = node_.RecordAndSeal(5);
  Grow(1, 3);
  const std::string wide = node_.RecordAndSeal(5, 2);
  node_.Stop();
  fs::rename(member(2), member(2) + ".away");
  node_.Start();
  EXPECT_EQ(Get().state, services::LunState::kOffline);
  EXPECT_THAT(Get().cause, HasSubstr(member(2)));
  node_.Stop();
  fs::remove_all(node_.state_dir());
  node_.Start();
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {member(1), member(0)}}, "").ok());
  EXPECT_THAT(Get().cause, HasSubstr("lacks member 2 (last at " + member(2) + ")"));
  fs::rename(member(2) + ".away", member(2));
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Get().state == services::LunState::kReady; }));
  ExpectWhole(narrow, 5);
  ExpectWhole(wide, 5, 2);
}

// Away while in use, and back.
TEST_P(MoreMembers, WhereOneOfThemVanishesItIsOffline) {
  Grow(1, 2);
  fs::rename(member(1), member(1) + ".away");
  EXPECT_TRUE(
      node_.executor().RunUntil([&] { return Get().state == services::LunState::kOffline; }));
  EXPECT_THAT(Get().cause, HasSubstr(member(1)));
  fs::rename(member(1) + ".away", member(1));
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Get().state == services::LunState::kReady; }));
  ExpectWhole(node_.RecordAndSeal(6), 6);
}

TEST_P(MoreMembers, WhatItsMembersHoldGrows) {
  const uint64_t before = Get().capacity_bytes;
  Grow(1, 3);
  EXPECT_EQ(before > 0, GetParam() == "device");
  EXPECT_EQ(Get().capacity_bytes, 3 * before);
  ASSERT_TRUE(node_.node()
                  .luns()
                  .UpdateLun(services::LunUpdate{.name = kGrownLun}.Set(
                                 &services::Lun::capacity_bytes, 64 << 20),
                             "")
                  .ok());
  Grow(3, 4);
  EXPECT_EQ(Get().capacity_bytes, 64u << 20) << "what was configured stays";
}

// It never had a part there, so nothing is looked for, or deleted, in that place.
TEST_P(MoreMembersOfFiles, WhatHasTheNameOfAnOldRecordingIsNobodys) {
  const std::string recording = node_.RecordAndSeal(5);
  Grow(1, 2);
  const std::string id = recording.substr(recording.rfind('/') + 1);
  const std::vector<std::string> foreign = {member(1) + "/c/" + id,
                                            member(1) + "/c/.deleted-" + id};
  for (const std::string& directory : foreign) {
    fs::create_directories(directory);
    std::ofstream(directory + "/data") << "somebody's";
  }
  node_.Start();
  ExpectWhole(recording, 5);
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(recording).ok());
  EXPECT_EQ(Get().recordings, 0u);
  for (const std::string& directory : foreign) EXPECT_EQ(TextOf(directory + "/data"), "somebody's");
}

// A LUN made of a copy has the UUID of its recordings beside its own.
TEST_P(MoreMembers, ACopyGetsItsOwn) {
  const std::string recording = node_.RecordAndSeal(5);
  node_.Stop();
  fs::copy(member(0), member(8), fs::copy_options::recursive);
  node_.Start();
  ASSERT_TRUE(node_.node()
                  .luns()
                  .AttachLun({.members = {member(8)}, .name = "luns/x", .as_new = true}, "")
                  .ok());
  MakeEmpty(9);
  const auto grown = node_.node().luns().UpdateLun(
      services::LunUpdate{.name = "luns/x"}.Set(&services::Lun::members, {member(8), member(9)}),
      "");
  ASSERT_TRUE(grown.ok()) << grown.status();
  for (int round = 0; round < 2; ++round) {
    ExpectWhole("luns/x" + recording.substr(6), 5);
    auto recorder = node_.Record({.channel = "luns/x/channels/c"}, 4);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(recorder->Push(i).ok());
    ASSERT_TRUE(recorder->Finish().ok());
    EXPECT_TRUE(Holds(9, 1, 4));
    recorder->admission = {};
    node_.Start();
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, MoreMembers, testing::Values("posix", "direct", "device"),
                         MemberKindName);
INSTANTIATE_TEST_SUITE_P(Stores, MoreMembersOfFiles, testing::Values("posix", "direct"),
                         MemberKindName);

}  // namespace
}  // namespace tapedeck::storage_node
