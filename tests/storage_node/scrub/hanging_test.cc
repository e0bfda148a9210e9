// A scrub of a LUN whose disk does not answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/hanging_disk.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Scrub;
using services::ScrubState;
using testing::HasSubstr;

constexpr uint64_t kFast = uint64_t{1} << 40;

class HangingScrubTest : public testing::Test {
 protected:
  HangingScrubTest() { node_.Restart({.patience = absl::Seconds(1)}); }

  Scrub Start(const std::string& parent) {
    const auto scrub =
        node_.node().scrubs().StartScrub({.parent = parent, .rate_bytes_per_s = kFast});
    EXPECT_TRUE(scrub.ok()) << scrub.status();
    return scrub.value_or(Scrub());
  }

  NodeFixture node_;
};

TEST_F(HangingScrubTest, IsGivenUpWithItsReasonAndGoesOnLater) {
  node_.RecordAndSeal(40);
  {
    const HangingDisk disk(node_.dir().path() + "/m0");
    Start("luns/l");
    const Scrub scrub = node_.EndScrub("luns/l");
    EXPECT_EQ(scrub.state, ScrubState::kStopped);
    EXPECT_THAT(scrub.cause, HasSubstr("luns/l: its disks have not answered the scrub for 1s"));
    EXPECT_GT(HangingDisk::calls(), 0);
    EXPECT_THAT(node_.node().Waiting(), HasSubstr("scrubs: luns/l")) << "its thread is there";
  }
  ASSERT_TRUE(node_.executor().RunUntil([&] { return node_.node().Waiting().empty(); }));
  const Scrub late = *node_.node().scrubs().GetScrub("luns/l");
  EXPECT_EQ(late.state, ScrubState::kStopped);
  EXPECT_THAT(late.cause, HasSubstr("its disks have not answered"));
  Start("luns/l");
  const Scrub again = node_.EndScrub("luns/l");
  EXPECT_EQ(again.state, ScrubState::kDone) << again.cause;
  EXPECT_EQ(again.recordings, 1u);
  EXPECT_EQ(again.damaged, 0u);
}

TEST_F(HangingScrubTest, ThatOfAnotherLunGoesOn) {
  node_.RecordAndSeal(40);
  services::Lun other{.name = "luns/other", .store = "posix", .capacity_bytes = 64 << 20};
  other.members.push_back(node_.dir().Make("other"));
  ASSERT_TRUE(node_.node().luns().CreateLun(other, "").ok());
  const HangingDisk disk(node_.dir().path() + "/m0");
  Start("luns/l");
  Start("luns/other");
  EXPECT_EQ(node_.EndScrub("luns/other").state, ScrubState::kDone);
  EXPECT_EQ(node_.EndScrub("luns/l").state, ScrubState::kStopped);
}

// What keeps to a rate waits longer than that for its turn.
TEST_F(HangingScrubTest, OneThatIsSlowIsNotGivenUp) {
  node_.RecordAndSeal(2);
  ASSERT_TRUE(node_.node()
                  .scrubs()
                  .StartScrub({.parent = "luns/l", .rate_bytes_per_s = kBlockBytes * 2 / 3})
                  .ok());
  const Scrub scrub = node_.EndScrub("luns/l");
  EXPECT_EQ(scrub.state, ScrubState::kDone) << scrub.cause;
}

}  // namespace
}  // namespace tapedeck::storage_node
