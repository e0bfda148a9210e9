// tapedeck-storage --check: finds what is damaged on a node that does not run, and changes nothing.
#include "storage_node/node/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kCheckedBlocks = 6;

class CheckTest : public testing::Test {
 protected:
  node::CheckTotals Check() {
    node_.Stop();
    findings_.clear();
    const ManualClock clock;
    const auto totals =
        node::CheckStorage(node_.state_dir(), clock, [this](const node::Finding& finding) {
          findings_.push_back(finding.where + " " + finding.kind);
        });
    EXPECT_TRUE(totals.ok()) << totals.status();
    return totals.value_or(node::CheckTotals());
  }

  NodeFixture node_{"posix", 2};
  std::vector<std::string> findings_;
};

TEST_F(CheckTest, SoundRecordingsGiveNoFinding) {
  node_.RecordAndSeal(kCheckedBlocks);
  node_.RecordAndSeal(kCheckedBlocks, 2);
  const node::CheckTotals totals = Check();
  EXPECT_THAT(findings_, testing::IsEmpty());
  EXPECT_EQ(totals.luns, 1u);
  EXPECT_EQ(totals.recordings, 2u);
  EXPECT_EQ(totals.blocks, 2 * kCheckedBlocks);
  EXPECT_EQ(totals.damaged, 0u);
}

TEST_F(CheckTest, DamageIsNamedByRecordingAndBlock) {
  const std::string name = node_.RecordAndSeal(kCheckedBlocks);
  FlipBit(node_.Directory(name) + "/data", kBlockBytes + 5);  // member 0 holds blocks 0, 2, 4
  const node::CheckTotals totals = Check();
  EXPECT_THAT(findings_, testing::ElementsAre(name + "/2 rot"));
  EXPECT_EQ(totals.damaged, 1u);
}

TEST_F(CheckTest, ManifestWithoutAGoodCopyIsDamage) {
  const std::string name = node_.RecordAndSeal(kCheckedBlocks);
  for (const int member : {0, 1}) {
    FlipBit(node_.Directory(name, member) + "/manifest.json", 30);
  }
  EXPECT_EQ(Check().damaged, 1u);
  EXPECT_THAT(findings_, testing::ElementsAre(name + " manifest"));
}

TEST_F(CheckTest, UnclosedRecordingIsLeftAsItIs) {
  std::string name;
  {
    auto recorder = node_.Record();
    ASSERT_TRUE(recorder.ok());
    name = recorder->admission.accept.recording;
    ASSERT_TRUE(recorder->Push(0).ok());
    const auto& sink = *recorder->admission.sink;
    ASSERT_TRUE(recorder->executor->RunUntil([&] { return sink.watermarks().durable == 1; }));
  }
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(Check().damaged, 0u);
    EXPECT_THAT(findings_, testing::ElementsAre(name + " open"));
  }
}

TEST_F(CheckTest, RunningNodeIsNamed) {
  const ManualClock clock;
  const auto totals = node::CheckStorage(node_.state_dir(), clock, [](const node::Finding&) {});
  EXPECT_TRUE(absl::IsFailedPrecondition(totals.status())) << totals.status();
  EXPECT_THAT(std::string(totals.status().message()), testing::HasSubstr("pid"));
}

}  // namespace
}  // namespace tapedeck::storage_node
