// Where the kernel has no thread left, what would need one is refused, leaves nothing behind, and
// the node goes on.
#include "tests/no_threads.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

class NoThreadsTest : public testing::Test {
 protected:
  // A new member that everybody may use.
  std::string Member(const std::string& kind) {
    std::string path =
        kind == "device" ? node_.dir().MakeImage("image", 1 << 30) : node_.dir().Make("new");
    fs::permissions(path, fs::perms::all);
    fs::permissions(node_.dir().path(), fs::perms::all);
    return path;
  }
  absl::Status CreateLun(const std::string& kind, const std::string& member) {
    const services::Lun lun{
        .name = "luns/new", .store = kind, .members = {member}, .capacity_bytes = 1 << 20};
    return node_.node().luns().CreateLun(lun, "").status();
  }

  NodeFixture node_;
};

TEST_F(NoThreadsTest, LunsAreRefusedAndLeaveTheirMembersAlone) {
  for (const std::string kind : {"posix", "direct", "device"}) {
    const std::string member = Member(kind);
    {
      const NoThreads none;
      if (!none.works()) GTEST_SKIP() << "this user may not become another one";
      const absl::Status refused = CreateLun(kind, member);
      EXPECT_EQ(Reason(refused), "LIMIT_REACHED") << refused;
      EXPECT_TRUE(node_.node().luns().GetLun("luns/l").ok());
    }
    EXPECT_TRUE(kind == "device" || fs::is_empty(member));
    const absl::Status made = CreateLun(kind, member);
    EXPECT_TRUE(made.ok()) << "with threads again: " << made;
    EXPECT_TRUE(node_.node().luns().DeleteLun("luns/new", false).ok());
  }
}

TEST_F(NoThreadsTest, ANodeDoesNotStartAndSaysWhy) {
  const std::string state = node_.dir().Make("state-of-another");
  fs::permissions(state, fs::perms::all);
  fs::permissions(node_.dir().path(), fs::perms::all);
  for (const uint64_t follow_bytes : {0, 1 << 20}) {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    const auto refused =
        node::StorageNode::Create({.state_dir = state, .follow_bytes = follow_bytes});
    EXPECT_EQ(Reason(refused.status()), "LIMIT_REACHED") << refused.status();
  }
  EXPECT_TRUE(node::StorageNode::Create({.state_dir = state}).ok());
}

TEST_F(NoThreadsTest, ScrubsAreRefused) {
  const std::string recording = node_.RecordAndSeal(4);
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    EXPECT_EQ(Reason(node_.node().scrubs().StartScrub({.parent = "luns/l"}).status()),
              "LIMIT_REACHED");
    EXPECT_TRUE(node_.node().scrubs().GetScrub("luns/l").ok());
    EXPECT_TRUE(node_.node().recordings().GetRecording(recording).ok());
  }
  EXPECT_TRUE(node_.node().scrubs().StartScrub({.parent = "luns/l"}).ok());
  EXPECT_EQ(node_.EndScrub("luns/l").recordings, 1u);
}

}  // namespace
}  // namespace tapedeck::storage_node
