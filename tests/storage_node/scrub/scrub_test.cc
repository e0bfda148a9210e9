// Scrubs find what is damaged while other things go on, and go on where they stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Scrub;
using services::ScrubState;

constexpr uint64_t kFast = uint64_t{1} << 40;

class ScrubTest : public testing::Test {
 protected:
  Scrub Start(services::ScrubStart start) {
    const auto scrub = node_.node().scrubs().StartScrub(start);
    EXPECT_TRUE(scrub.ok()) << scrub.status();
    return scrub.value_or(Scrub());
  }

  NodeFixture node_;
};

TEST_F(ScrubTest, FindsDamageInEveryClosedRecording) {
  const std::string sound = node_.RecordAndSeal(20);
  const std::string rotten = node_.RecordAndSeal(20, 2);
  auto running = *node_.Record();
  ASSERT_TRUE(running.Push(0).ok());
  FlipBit(node_.Directory(rotten) + "/data", 7 * kBlockBytes + 9);
  Start({.parent = "luns/l", .rate_bytes_per_s = kFast});
  const Scrub scrub = node_.EndScrub("luns/l");
  EXPECT_EQ(scrub.state, ScrubState::kDone) << scrub.cause;
  EXPECT_EQ(scrub.recordings, 2u) << "the one that is being written is left alone";
  EXPECT_EQ(scrub.blocks, 40u);
  ASSERT_EQ(scrub.findings.size(), 1u);
  EXPECT_EQ(scrub.findings[0].recording, rotten);
  EXPECT_EQ(scrub.findings[0].block.sequence, 7u);
  EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kRot);
}

TEST_F(ScrubTest, NamesTheOwnerOfWhatLiesInTheWrongPlace) {
  node_.MakeChannel("other", dataplane::CommitLevel::kDurable);
  const std::string owner = node_.RecordAndSeal(20);
  auto recorder = *node_.Record({.channel = "luns/l/channels/other"}, 2);
  for (uint64_t i = 0; i < 9; ++i) ASSERT_TRUE(recorder.Push(i).ok());
  ASSERT_TRUE(recorder.Finish().ok());
  const std::string victim = recorder.admission.accept.recording;
  const std::string folder =
      node_.dir().path() + "/m0/other/" + victim.substr(victim.rfind('/') + 1);
  CopyBytes(node_.Directory(owner) + "/data", 13 * kBlockBytes, folder + "/data", 5 * kBlockBytes,
            kBlockBytes);
  FlipBit(folder + "/data", 7 * kBlockBytes + 9);
  Start({.parent = "luns/l/channels/other", .rate_bytes_per_s = kFast});
  const Scrub scrub = node_.EndScrub("luns/l/channels/other");
  EXPECT_EQ(scrub.state, ScrubState::kDone) << scrub.cause;
  ASSERT_EQ(scrub.findings.size(), 2u);
  EXPECT_EQ(scrub.findings[0].block.sequence, 5u);
  EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kMisdirected);
  EXPECT_THAT(scrub.findings[0].block.detail, testing::HasSubstr("block 13 of " + owner));
  EXPECT_EQ(scrub.findings[1].block.sequence, 7u);
  EXPECT_EQ(scrub.findings[1].block.kind, services::DamageKind::kRot);
}

TEST_F(ScrubTest, KeepsToItsRateAndToItsChannel) {
  node_.MakeChannel("other", dataplane::CommitLevel::kDurable);
  node_.RecordAndSeal(130);
  Start({.parent = "luns/l/channels/other", .rate_bytes_per_s = kFast});
  EXPECT_EQ(node_.EndScrub("luns/l/channels/other").blocks, 0u);
  // 64 blocks are reported at a time: with one of them a second it is far from its end.
  Start({.parent = "luns/l/channels/c", .rate_bytes_per_s = kBlockBytes});
  absl::SleepFor(absl::Milliseconds(300));
  const auto stopped = node_.node().scrubs().StopScrub("luns/l/channels/c");
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->state, ScrubState::kStopped);
  EXPECT_EQ(stopped->blocks, 64u);
}

TEST_F(ScrubTest, GoesOnWhereItStoppedAlsoAfterARestart) {
  node_.RecordAndSeal(130);
  Start({.parent = "luns/l", .rate_bytes_per_s = 1});
  absl::SleepFor(absl::Milliseconds(200));
  EXPECT_EQ(node_.node().scrubs().StopScrub("luns/l")->blocks, 64u);
  node_.Stop();
  node_.Start();
  Start({.parent = "luns/l", .rate_bytes_per_s = kFast});
  const Scrub rest = node_.EndScrub("luns/l");
  EXPECT_EQ(rest.state, ScrubState::kDone);
  EXPECT_EQ(rest.blocks, 66u);
  Start({.parent = "luns/l", .rate_bytes_per_s = kFast});
  EXPECT_EQ(node_.EndScrub("luns/l").blocks, 130u) << "after its end it begins again";
}

TEST_F(ScrubTest, IsStoppedByTheEndOfTheNode) {
  node_.RecordAndSeal(130);
  Start({.parent = "luns/l", .rate_bytes_per_s = 1});
  node_.Stop();
}

TEST_F(ScrubTest, WhatHasEndedIsDroppedInTheEnd) {
  namespace fs = std::filesystem;
  const std::string state = node_.state_dir() + "/scrub";
  for (int i = 0; i < 40; ++i) {
    const std::string id = "c" + std::to_string(i);
    node_.MakeChannel(id, dataplane::CommitLevel::kDurable);
    Start({.parent = "luns/l/channels/" + id, .rate_bytes_per_s = kFast});
    EXPECT_EQ(node_.EndScrub("luns/l/channels/" + id).state, ScrubState::kDone);
  }
  EXPECT_EQ(node_.node().scrubs().GetScrub("luns/l/channels/c39")->state, ScrubState::kDone);
  EXPECT_EQ(node_.node().scrubs().GetScrub("luns/l/channels/c0")->state, ScrubState());
  EXPECT_TRUE(!fs::exists(state) || fs::is_empty(state)) << "nothing is left to go on with";
}

TEST_F(ScrubTest, PositionsOfWhatIsGoneAreDropped) {
  const std::string gone = node_.state_dir() + "/scrub/luns,l,channels,gone.json";
  node_.RecordAndSeal(130);
  std::filesystem::create_directories(node_.state_dir() + "/scrub");
  std::ofstream(gone) << "{}";
  Start({.parent = "luns/l", .rate_bytes_per_s = 1});
  absl::SleepFor(absl::Milliseconds(200));
  ASSERT_TRUE(node_.node().scrubs().StopScrub("luns/l").ok());
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(node_.state_dir() + "/scrub/luns,l.json"));
}

TEST_F(ScrubTest, SoManyRunAtOnceAndNoMore) {
  node_.RecordAndSeal(130);
  for (int i = 0; i < 8; ++i) {
    const std::string id = "c" + std::to_string(i);
    node_.MakeChannel(id, dataplane::CommitLevel::kDurable);
    auto recorder = *node_.Record({.channel = "luns/l/channels/" + id});
    for (uint64_t block = 0; block < 65; ++block) ASSERT_TRUE(recorder.Push(block).ok());
    ASSERT_TRUE(recorder.Finish().ok());
    Start({.parent = "luns/l/channels/" + id, .rate_bytes_per_s = 1});
  }
  const auto refused = node_.node().scrubs().StartScrub({.parent = "luns/l"});
  EXPECT_EQ(Reason(refused.status()), "LIMIT_REACHED") << refused.status();
  Start({.parent = "luns/l/channels/c7", .rate_bytes_per_s = kFast});  // another rate for one
  EXPECT_EQ(node_.node().scrubs().StopScrub("luns/l/channels/c0")->state, ScrubState::kStopped);
}

TEST_F(ScrubTest, UnknownNamesAreRefused) {
  EXPECT_EQ(Reason(node_.node().scrubs().StartScrub({.parent = "luns/x"}).status()),
            "LUN_NOT_FOUND");
  EXPECT_EQ(Reason(node_.node().scrubs().StartScrub({.parent = "luns/l/channels/x"}).status()),
            "CHANNEL_NOT_FOUND");
}

}  // namespace
}  // namespace tapedeck::storage_node
