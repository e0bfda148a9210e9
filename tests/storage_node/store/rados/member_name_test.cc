// What members of a rados LUN may be called.
#include "storage_node/store/rados/member_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::storage_node::store::rados {
namespace {

TEST(RadosMemberName, HasAPoolAndANamespace) {
  const auto whole = ParseMember("rados:rep-3.a/deep_1");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->pool, "rep-3.a");
  EXPECT_EQ(whole->space, "deep_1");
  EXPECT_EQ(CheckMember("rados:rep")->name, "rados:rep/tapedeck");
  EXPECT_EQ(CheckMember("rados:rep")->leads_to, CheckMember("rados:rep/tapedeck")->leads_to);
}

TEST(RadosMemberName, MayHaveAPoolForPayload) {
  const auto whole = ParseMember("rados:rep+bulk/deep");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->pool, "rep");
  EXPECT_EQ(whole->payload_pool(), "bulk");
  EXPECT_EQ(whole->payload_space(), "rep/deep");
  EXPECT_EQ(CheckMember("rados:rep+bulk")->name, "rados:rep+bulk/tapedeck");
  EXPECT_EQ(CheckMember("rados:rep+bulk")->leads_to, CheckMember("rados:rep+other")->leads_to);
}

TEST(RadosMemberName, IsRefusedWhereToolsWouldMisreadIt) {
  for (const std::string name :
       {"rados:", "rados:/n", "rados:p/", "rados:p/n/m", "rados:-p", "rados:p/-n", "rados:p+/n",
        "rados:+d/n", "rados:p+d+e/n", "rados:p/n+d", "rados:p q", "rados:p\n", "/rados", "other:p",
        ""}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseMember(name).status())) << name;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(ParseMember("rados:" + std::string(200, 'p')).status()));
}

TEST(RadosMemberName, OfALunIsNoPath) {
  const auto status = CheckMemberNames({.store = "rados", .members = {"/srv/deck"}});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("rados:POOL/NAMESPACE"));
}

}  // namespace
}  // namespace tapedeck::storage_node::store::rados
