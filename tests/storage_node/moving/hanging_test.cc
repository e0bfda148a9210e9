// Policies of tiers beside a LUN whose disk does not answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "dataplane/now.h"
#include "services/observe/telemetry/page.h"
#include "tests/storage_node/hanging_disk.h"
#include "tests/storage_node/moving/mover_fixture.h"

namespace tapedeck::storage_node {
namespace {

using testing::HasSubstr;

class HangingMoveTest : public MoverTest {
 protected:
  // A second policy, of a LUN of its own.
  HangingMoveTest() {
    node_.Restart({.clock = clock_, .patience = absl::Milliseconds(1500)});
    MakeLun("near");
    MakeLun("far");
    const auto made = node_.node().channels().CreateChannel({.name = "luns/near/channels/c",
                                                             .block_bytes = kBlockBytes,
                                                             .datatype = "cf32_le",
                                                             .sample_rate = 1e9},
                                                            "");
    EXPECT_TRUE(made.ok()) << made.status();
    hangs_ = node_.RecordAndSeal(20);
    other_ = Record("luns/near/channels/c");
    EXPECT_TRUE(SetPolicy("luns/deep").ok());
    EXPECT_TRUE(SetPolicy("luns/far", kHourNs, "luns/near/channels/c").ok());
  }

  std::string Record(const std::string& channel) {
    auto recorder = node_.Record({.channel = channel});
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    EXPECT_TRUE(recorder->Finish().ok());
    return recorder->admission.accept.recording;
  }

  std::string Metrics() {
    services::telemetry::Page page;
    node_.node().AddMetrics(page);
    return page.Text();
  }

  // The others' are moved while that disk hangs, and its own once it answers.
  void OthersGoOnWhile(const std::string& folder) {
    {
      const HangingDisk disk(folder);
      After();
      EXPECT_TRUE(IsThere(hangs_));
      EXPECT_GT(HangingDisk::calls(), 0);
      EXPECT_THAT(MovedTo(other_), HasSubstr("luns/far/")) << "another policy waited";
      EXPECT_THAT(Metrics(), HasSubstr("tapedeck_lun_failed_moves_total{lun=\"l\"} 1"));
      // It is not tried again before the first try has ended, and costs no time any more.
      const int calls = HangingDisk::calls();
      const std::string more = Record("luns/near/channels/c");
      const absl::Time began = dataplane::SteadyTime();
      After();
      EXPECT_LT(dataplane::SteadyTime() - began, absl::Seconds(10));
      EXPECT_THAT(MovedTo(more), HasSubstr("luns/far/"));
      EXPECT_EQ(HangingDisk::calls(), calls);
      EXPECT_THAT(Metrics(), HasSubstr("tapedeck_lun_failed_moves_total{lun=\"l\"} 1"));
    }
    const bool moved = node_.executor().RunUntil([&] {
      After();
      return MovedTo(hangs_) != "";
    });
    ASSERT_TRUE(moved);
    EXPECT_EQ(node_.PlayAll(MovedTo(hangs_)).size(), 20u);
    EXPECT_EQ(Count(kTo), 1u) << "what was given up is still there";
  }

  std::string hangs_, other_;
};

TEST_F(HangingMoveTest, OtherPoliciesGoOnWhileTheLunHangsThatItMovesTo) {
  OthersGoOnWhile(node_.dir().path() + "/deep");
}

TEST_F(HangingMoveTest, OtherPoliciesGoOnWhileTheLunHangsThatItMovesFrom) {
  OthersGoOnWhile(node_.dir().path() + "/m0");
}

// What the copy is to have was read before: it hangs while that is written.
TEST_F(HangingMoveTest, WhatIsNotedBeforeTheOriginalGoesIsNotLostWithIt) {
  // At this rate the copy is compared for a second.
  ASSERT_TRUE(SetPolicy("luns/deep", kHourNs, kFrom, 1 << 20).ok());
  clock_->shift_ns += 2 * kHourNs;
  const std::string id = hangs_.substr(hangs_.rfind('/') + 1);
  const std::string copy = absl::StrCat(kTo, "/recordings/", id);
  ASSERT_TRUE(node_.executor().RunUntil([&] {
    const auto made = node_.node().recordings().GetRecording(copy);
    return made.ok() && made->state == services::RecordingState::kSealed;
  }));
  {
    const HangingDisk disk(node_.dir().path() + "/deep/c/" + id + "/manifest.json");
    ASSERT_TRUE(node_.executor().RunUntil([] { return HangingDisk::calls() == 1; }));
    ASSERT_TRUE(node_.node()
                    .recorder()
                    .AnnotateRecording(hangs_, {.sample_start = 5, .label = "late"})
                    .ok());
  }
  ASSERT_TRUE(node_.executor().RunUntil([&] {
    After();
    return MovedTo(hangs_) != "";
  }));
  const services::Recording moved = node_.Get(MovedTo(hangs_));
  ASSERT_EQ(moved.annotations.size(), 1u);
  EXPECT_EQ(moved.annotations[0].label, "late");
}

TEST_F(HangingMoveTest, ANodeThatEndsWaitsForNothingMoreThanTheDisk) {
  auto disk = std::make_unique<HangingDisk>(node_.dir().path() + "/deep");
  After();
  auto ended = std::async(std::launch::async, [&] { node_.Stop(); });
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  disk = nullptr;
  ASSERT_EQ(ended.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  ended.get();
  Restart();
  EXPECT_EQ(node_.PlayAll(MovedTo(hangs_) == "" ? hangs_ : MovedTo(hangs_)).size(), 20u);
}

}  // namespace
}  // namespace tapedeck::storage_node
