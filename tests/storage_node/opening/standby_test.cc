// Two storage nodes with the same LUN to take over: one has it, the other is its standby.

#include <gtest/gtest.h>

#include <functional>

#include "absl/time/clock.h"
#include "tests/storage_node/ceph_cluster.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::LunState;

// On a directory, and on Ceph where there is a cluster.
class StandbyTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "rados" && !UseCephCluster()) GTEST_SKIP() << kNoCephCluster;
    member_ = GetParam() == "rados" ? MakeCephMember("standby") : first_.dir().Make("pair");
    Start(first_);
    const auto made = first_.node().luns().CreateLun({.name = "luns/pair",
                                                      .store = GetParam(),
                                                      .members = {member_},
                                                      .capacity_bytes = 64 << 20},
                                                     "");
    ASSERT_TRUE(made.ok()) << made.status();
    MakeChannel(first_, "luns/pair/channels/c");
    Start(second_);
  }

  void Start(NodeFixture& node) { node.Restart({.standby_for = {{member_}}}); }

  static void MakeChannel(NodeFixture& node, const std::string& name) {
    const auto channel = node.node().channels().CreateChannel(
        {.name = name, .block_bytes = kBlockBytes, .datatype = "cf32_le", .sample_rate = 1e9}, "");
    EXPECT_TRUE(channel.ok()) << channel.status();
  }

  static std::string RecordTwo(NodeFixture& node) {
    auto recorder = node.Record({.channel = "luns/pair/channels/c"});
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    if (!recorder.ok()) return "";
    EXPECT_TRUE(recorder->Push(0).ok());
    EXPECT_TRUE(recorder->Push(1).ok());
    EXPECT_TRUE(recorder->Finish().ok());
    return recorder->admission.accept.recording;
  }

  static bool Becomes(NodeFixture& node, LunState state, const std::string& name = "luns/pair") {
    for (int i = 0; i < 400; ++i) {
      const auto lun = node.node().luns().GetLun(name);
      if (lun.ok() && lun->state == state) return true;
      absl::SleepFor(absl::Milliseconds(50));
    }
    return false;
  }

  NodeFixture first_;
  NodeFixture second_;
  std::string member_;
};

TEST_P(StandbyTest, SaysWhoHasTheLunAndTakesNoSessions) {
  ASSERT_TRUE(Becomes(second_, LunState::kStandby));
  const auto lun = second_.node().luns().GetLun("luns/pair");
  EXPECT_NE(lun->cause.find("pid " + std::to_string(getpid())), std::string::npos) << lun->cause;
  const auto refused = second_.Record({.channel = "luns/pair/channels/c"});
  EXPECT_EQ(Reason(refused.status()), "LUN_OFFLINE");
  EXPECT_NE(refused.status().message().find("on standby"), std::string::npos) << refused.status();
  EXPECT_EQ(first_.node().luns().GetLun("luns/pair")->state, LunState::kReady);
}

TEST_P(StandbyTest, TakesTheLunOverAndTheOtherBecomesTheStandby) {
  ASSERT_TRUE(Becomes(second_, LunState::kStandby));
  const std::string before = RecordTwo(first_);
  first_.Stop();
  ASSERT_TRUE(Becomes(second_, LunState::kReady));
  EXPECT_EQ(second_.PlayAll(before).size(), 2);
  RecordTwo(second_);
  Start(first_);
  ASSERT_TRUE(Becomes(first_, LunState::kStandby));
  EXPECT_EQ(second_.node().luns().GetLun("luns/pair")->state, LunState::kReady);
}

TEST_P(StandbyTest, WhatTheOtherNodeDidMeanwhileIsKnownAfterwards) {
  const std::string kept = RecordTwo(first_);
  const std::string deleted = RecordTwo(first_);
  first_.Stop();
  ASSERT_TRUE(Becomes(second_, LunState::kReady));
  ASSERT_TRUE(second_.node().recordings().DeleteRecording(deleted).ok());
  const auto annotated = second_.node().recorder().AnnotateRecording(
      kept, {.sample_start = 1, .sample_count = 1, .label = "seen"});
  ASSERT_TRUE(annotated.ok()) << annotated;
  MakeChannel(second_, "luns/pair/channels/more");
  const std::string made = RecordTwo(second_);
  Start(first_);
  ASSERT_TRUE(Becomes(first_, LunState::kStandby));
  second_.Stop();
  ASSERT_TRUE(Becomes(first_, LunState::kReady));
  EXPECT_EQ(first_.node().channels().ListChannels("luns/pair")->size(), 2);
  EXPECT_EQ(first_.node().recordings().ListRecordings("luns/pair/channels/c")->size(), 2);
  EXPECT_EQ(first_.Get(kept).annotations.size(), 1);
  EXPECT_EQ(first_.PlayAll(made).size(), 2);
}

TEST_P(StandbyTest, LeavesALunOfTheSameNameAlone) {
  NodeFixture third;
  const auto own = third.node().luns().CreateLun(
      {.name = "luns/pair", .store = "posix", .members = {third.dir().Make("own")}}, "");
  ASSERT_TRUE(own.ok()) << own.status();
  MakeChannel(third, "luns/pair/channels/c");
  const std::string recording = RecordTwo(third);
  Start(third);
  first_.Stop();
  second_.Stop();  // nobody has the other one now
  absl::SleepFor(absl::Seconds(3));
  EXPECT_EQ(third.PlayAll(recording).size(), 2);
  EXPECT_EQ(third.node().luns().GetLun("luns/pair")->uid, own->uid);
  EXPECT_EQ(third.node().luns().GetLun("luns/pair")->state, LunState::kReady);
}

INSTANTIATE_TEST_SUITE_P(Stores, StandbyTest, testing::Values("posix", "rados"),
                         [](const auto& store) { return store.param; });

}  // namespace
}  // namespace tapedeck::storage_node
