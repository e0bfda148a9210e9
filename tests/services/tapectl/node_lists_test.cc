// What --storage stands for, and names that begin with a node.
#include "services/site/node_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {
namespace {

using ::testing::HasSubstr;

Program With(const std::string& storage) {
  Program program;
  program.storage = storage;
  return program;
}

// "STORAGE NAME", or the error.
std::string Taken(const std::string& storage, const std::string& text, size_t ids) {
  Program program = With(storage);
  const auto name = TakeNode(program, text, ids);
  if (!name.ok()) return std::string(name.status().message());
  return program.storage + " " + *name;
}

TEST(NodeListsTest, StoragesAreCheckedOneByOne) {
  for (const char* text :
       {"a:1", "a:1,b:2", "dns:///a:1,srv:_d._tcp.lab", "a:1@1.2.3.4,ipv6:[::1]:1"}) {
    EXPECT_TRUE(CheckStorages(text).ok()) << text;
  }
  for (const char* text : {"", "a", "a:1,", ",a:1", "a:1,unix:/x", "srv:x", "dns://1.1.1.1/a:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckStorages(text))) << text;
  }
}

TEST(NodeListsTest, NamesOfNodesAreReplaced) {
  Program program = With("a:1,dns:///127.0.0.1:2,ipv4:127.0.0.1:3");
  ASSERT_TRUE(ResolveStorages(program).ok());
  EXPECT_EQ(program.storage, "a:1,127.0.0.1:2,ipv4:127.0.0.1:3");
  EXPECT_EQ(*OneNode(program, "f", "dns:///127.0.0.1:2"), "127.0.0.1:2");
  program.storage = "dns:///no-such-host.invalid:1";
  EXPECT_EQ(ReasonOf(ResolveStorages(program))->reason, "NODE_UNREACHABLE");
}

TEST(NodeListsTest, ANodeEndsAtItsSlash) {
  using Pair = std::pair<absl::string_view, absl::string_view>;
  EXPECT_EQ(SplitNode("a:1/l/c"), Pair("a:1", "l/c"));
  EXPECT_EQ(SplitNode("dns:///a:1/l/c"), Pair("dns:///a:1", "l/c"));
  EXPECT_EQ(SplitNode("a/b:///c"), Pair("a", "b:///c"));
  EXPECT_EQ(SplitNode("a:1"), Pair("a:1", ""));
}

TEST(NodeListsTest, ATargetMayBeginWithAnyNode) {
  const auto taken = [](const std::string& text) {
    Program program = With("a:1,c:3@10.0.0.1");
    const auto name = TakeAnyNode(program, "to", text, 2);
    return name.ok() ? program.storage + " " + *name : std::string(name.status().message());
  };
  EXPECT_EQ(taken("l/c"), "a:1,c:3@10.0.0.1 l/c");
  EXPECT_EQ(taken("z:9/l/c"), "z:9 l/c");
  EXPECT_EQ(taken("C:3/luns/l/channels/c"), "c:3@10.0.0.1 luns/l/channels/c");
  EXPECT_EQ(taken("dns:///127.0.0.1:2/l/c"), "127.0.0.1:2 l/c");
  EXPECT_EQ(taken("z:9/l"), "a:1,c:3@10.0.0.1 z:9/l") << "no name of a channel";
  EXPECT_THAT(taken("unix:z/l/c"), HasSubstr("unix"));
}

TEST(NodeListsTest, ANameMayBeginWithANode) {
  const std::string all = "a:1,dns:b:2,c:3@10.0.0.1";
  EXPECT_EQ(Taken(all, "l/c/latest", 3), all + " l/c/latest");
  EXPECT_EQ(Taken(all, "ID", 3), all + " ID");
  EXPECT_EQ(Taken(all, "luns/l/channels/c/recordings/r", 3),
            all + " luns/l/channels/c/recordings/r");
  EXPECT_EQ(Taken(all, "l/c", 2), all + " l/c");
  EXPECT_EQ(Taken(all, "A:1/l/c/latest", 3), "a:1 l/c/latest");
  EXPECT_EQ(Taken(all, "a:1/ID", 3), "a:1 ID");
  EXPECT_EQ(Taken(all, "b:2/l/c", 2), "dns:b:2 l/c");
  EXPECT_EQ(Taken(all, "dns:///b:2/luns/l/channels/c", 2), "dns:b:2 luns/l/channels/c");
  EXPECT_EQ(Taken(all, "c:3/l/c/r", 3), "c:3@10.0.0.1 l/c/r");
  EXPECT_EQ(Taken(all, "c:3@10.0.0.1/l/c/r", 3), "c:3@10.0.0.1 l/c/r");
  // What is no name of that many ids, with or without a node, is left to who takes names.
  EXPECT_EQ(Taken(all, "l/c", 3), all + " l/c");
  EXPECT_EQ(Taken(all, "a:1/", 3), all + " a:1/");
}

TEST(NodeListsTest, WhichNodesThereAreIsSaid) {
  EXPECT_THAT(Taken("a:1,b:2", "d:1/l/c/r", 3), HasSubstr("no node of --storage is d:1"));
  EXPECT_THAT(Taken("a:1,b:2", "d:1/l/c/r", 3), HasSubstr("a:1, b:2"));
  EXPECT_THAT(Taken("c:3@10.0.0.1,c:3@10.0.0.2", "c:3/l/c/r", 3),
              HasSubstr("c:3@10.0.0.1, c:3@10.0.0.2"));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
