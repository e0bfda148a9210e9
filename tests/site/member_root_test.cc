// A storage node that is started with --member-root has no LUN whose members lie elsewhere, and
// makes none there.

#include <gmock/gmock.h>

#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::LunState;

class MemberRootTest : public SiteTest {
 protected:
  MemberRootTest() {
    AddLun(node_, "l0", 0);
    AddLun(node_, "l1", 0);
  }

  void RestartWithRoot(const std::string& root) {
    node_.Stop();
    node_.settings.member_roots = {root};
    node_.Start();
  }

  Node& node_ = AddNode();
};

TEST_F(MemberRootTest, KeepsOutWhatLiesElsewhere) {
  const std::string made = dir_.Make("new");
  RestartWithRoot(dir_.path() + "/elsewhere");
  for (const std::string name : {"luns/l0", "luns/l1"}) {
    const services::Lun lun = node_.LunNamed(name);
    EXPECT_EQ(lun.state, LunState::kOffline) << name;
    EXPECT_THAT(lun.cause, testing::HasSubstr("--member-root"));
  }
  const auto refused =
      node_.catalog().CreateLun({.name = "luns/new", .store = "posix", .members = {made}});
  ExpectRefused(refused.status(), absl::StatusCode::kFailedPrecondition, "MEMBER_UNUSABLE");

  RestartWithRoot(dir_.path());
  for (const std::string name : {"luns/l0", "luns/l1"}) {
    EXPECT_EQ(node_.LunNamed(name).state, LunState::kReady) << name;
  }
}

}  // namespace
}  // namespace tapedeck::site
