// Which texts are nodes, and what is called by them.
#include "services/base/addresses/node_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_split.h"

namespace tapedeck::services::naming {
namespace {

using ::testing::HasSubstr;

TEST(NodeNameTest, WhatGrpcsDocumentNames) {
  const std::tuple<const char*, const char*, const char*> kNames[] = {
      {"deck:7400", "deck:7400", "deck:7400"},
      {"a.lab-1.example.:1", "a.lab-1.example.:1", "a.lab-1.example.:1"},
      {"10.0.0.1:7400", "10.0.0.1:7400", "10.0.0.1:7400"},
      {"[fe80::1%eth0]:7400", "[fe80::1%eth0]:7400", "[fe80::1%eth0]:7400"},
      {"dns:deck:7400", "deck:7400", "deck:7400"},
      {"dns:///deck:7400", "deck:7400", "deck:7400"},
      {"DNS:///[::1]:7400", "[::1]:7400", "[::1]:7400"},
      {"ipv4:10.0.0.1:7400", "10.0.0.1:7400", "10.0.0.1:7400"},
      {"ipv6:[fd00::1]:65535", "[fd00::1]:65535", "[fd00::1]:65535"},
      {"deck:7400@10.0.0.1", "deck:7400", "10.0.0.1:7400"},
      {"deck:7400@[fd00::1]", "deck:7400", "[fd00::1]:7400"}};
  for (const auto& [text, authority, target] : kNames) {
    const auto name = ParseNodeName(text);
    ASSERT_TRUE(name.ok()) << text << name.status();
    EXPECT_EQ(name->authority(), authority) << text;
    EXPECT_EQ(name->target(), target) << text;
    EXPECT_TRUE(IsSameNode(name->text(), text)) << text;
  }
}

TEST(NodeNameTest, WhatIsNoneIsRefused) {
  constexpr char kNone[] =
      " : :7400 deck deck: deck:0 deck:65536 deck:+1 deck:http deck:7400/ ::1:7400 [::1:7400 "
      "[::g]:7400 []:1 [fe80::1%]:1 a/b:1 a%2fb:1 a,b:1 a..b:1 .a:1 a:1:2 a:1@ a:1@b a:1@::1 "
      "a:1@1.2.3 @1.2.3.4 dns:7400 dns:deck dns:/// dns:///a:1@1.2.3.4 dns://8.8.8.8/deck:7400 "
      "dns:////deck:1 ipv4:deck:7400 ipv4:[::1]:1 ipv4:1.2.3.4 ipv6:1.2.3.4:1 ipv6:::1:1 "
      "ipv6:deck:1 unix:/tmp/socket unix:7400 UNIX:7400 unix:///a:1 unix-abstract:a:1 vsock:1:2 "
      "xds:///deck:1 google-c2p:///deck:1 foo://deck:1 dns:///unix:1 srv:_a._tcp.lab deck:7400\n "
      "d\xc3\xa4"
      "ck:1";
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(kNone, ' '))) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckNodeName(text))) << text;
  }
  EXPECT_FALSE(CheckNodeName("a b:1").ok());
  EXPECT_FALSE(CheckNodeName(std::string(254, 'a') + ":1").ok());
  EXPECT_FALSE(CheckNodeName(std::string("a\0:1", 4)).ok());
  EXPECT_THAT(std::string(CheckNodeName("unix:/tmp/socket").message()), HasSubstr("by unix"));
  EXPECT_THAT(std::string(CheckNodeName("dns://1.1.1.1/a:1").message()), HasSubstr("name server"));
}

TEST(NodeNameTest, ListsAreNamedBySchemes) {
  EXPECT_TRUE(IsNodeList("dns:///deck:7400"));
  EXPECT_TRUE(IsNodeList("srv:_tapedeck._tcp.lab"));
  EXPECT_FALSE(IsNodeList("deck:7400"));
  EXPECT_FALSE(IsNodeList("ipv4:1.2.3.4:1"));
  EXPECT_EQ(*ParseServiceName("srv:_tapedeck._tcp.lab.example"), "_tapedeck._tcp.lab.example");
  EXPECT_EQ(*ParseServiceName("srv:///_a._tcp.b"), "_a._tcp.b");
  for (const char* text : {"srv:", "srv:lab", "srv:_a b", "srv://1.1.1.1/_a._tcp.b", "dns:///a:1",
                           "_a._tcp.b", "srv:_a..b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseServiceName(text).status())) << text;
  }
  EXPECT_TRUE(CheckNodeOrList("srv:_a._tcp.b").ok());
  EXPECT_TRUE(CheckNodeOrList("deck:1").ok());
  EXPECT_FALSE(CheckNodeOrList("srv:a").ok());
  EXPECT_FALSE(CheckNodeOrList("xds:a").ok());
}

TEST(NodeNameTest, OneNodeHasManySpellings) {
  EXPECT_TRUE(IsSameNode("dns:///Deck:1", "deck:1"));
  EXPECT_TRUE(IsSameNode("ipv4:1.2.3.4:1", "1.2.3.4:1"));
  EXPECT_FALSE(IsSameNode("deck:1", "deck:2"));
  EXPECT_FALSE(IsSameNode("deck:1@1.2.3.4", "deck:1@1.2.3.5"));
  EXPECT_TRUE(IsSameNode("none", "none"));
}

}  // namespace
}  // namespace tapedeck::services::naming
