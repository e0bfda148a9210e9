// A LUN or a state directory that another version of Tapedeck wrote is refused with that version
// and what to do, and nothing in it is touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "storage_node/catalog/database.h"
#include "storage_node/format/json_text.h"
#include "tests/storage_node/files_below.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const auto kSaysWhatToDo =
    AllOf(HasSubstr("format version 1"), HasSubstr("this build reads version 2"),
          HasSubstr("changed nothing"), HasSubstr("with the Tapedeck that wrote it"));

class OlderVersion : public testing::TestWithParam<std::string> {
 protected:
  // A LUN with two recordings, one of which was cut off, of version 1 from now on.
  OlderVersion() {
    node_.RecordAndSeal(3);
    auto recorder = node_.Record();
    EXPECT_TRUE(recorder.ok() && recorder->Push(0).ok());
    recorder = absl::CancelledError();
    node_.Stop();
    for (const auto& entry : fs::recursive_directory_iterator(node_.dir().path())) {
      const std::string name = entry.path().filename();
      if (name == "lun.json" || name == "channel.json" || name == "l.json") Age(entry.path());
    }
  }
  static void Age(const fs::path& path) {
    nlohmann::json object = *format::OpenJson(BytesOf(path), "a file", 1 << 16);
    object["version"] = 1;
    std::ofstream(path) << format::SealJson(std::move(object));
  }
  std::string member(int number) const {
    return node_.dir().path() + "/m" + std::to_string(number);
  }
  absl::StatusOr<services::Lun> Attach() {
    return node_.node().luns().AttachLun({.members = {member(0), member(1)}}, "");
  }

  NodeFixture node_{GetParam(), 2};
};

TEST_P(OlderVersion, StateDirectoryIsRefused) {
  const Files before = FilesBelow(node_.dir().path());
  const auto node = node::StorageNode::Create({.state_dir = node_.state_dir()});
  EXPECT_TRUE(absl::IsFailedPrecondition(node.status())) << node.status();
  EXPECT_THAT(node.status().message(), AllOf(kSaysWhatToDo, HasSubstr("luns/l.json")));
  const absl::Status rebuilt = node::RebuildCatalog(node_.state_dir());
  EXPECT_THAT(rebuilt.message(), kSaysWhatToDo);
  EXPECT_EQ(FilesBelow(node_.dir().path()), before);
}

TEST_P(OlderVersion, MembersAreRefused) {
  fs::remove_all(node_.state_dir());
  node_.Start();
  const Files before[] = {FilesBelow(member(0)), FilesBelow(member(1))};
  const auto attached = Attach();
  EXPECT_THAT(attached.status().message(), kSaysWhatToDo) << attached.status();
  const auto made = node_.node().luns().CreateLun(
      {.name = "luns/n", .store = GetParam(), .members = {member(0)}}, "");
  EXPECT_EQ(Reason(made.status()), "MEMBER_UNUSABLE");
  node_.Stop();
  node_.Start();
  EXPECT_EQ(FilesBelow(member(0)), before[0]);
  EXPECT_EQ(FilesBelow(member(1)), before[1]);
}

INSTANTIATE_TEST_SUITE_P(Stores, OlderVersion, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

TEST(OlderCatalog, IsMadeAgainWhenAsked) {
  NodeFixture node;
  const std::string recording = node.RecordAndSeal(3);
  node.Stop();
  ASSERT_TRUE(catalog::Database::Open(node.state_dir() + "/catalog.sqlite")
                  ->Run("PRAGMA user_version = 1")
                  .ok());
  const auto refused = node::StorageNode::Create({.state_dir = node.state_dir()});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("format version 1"), HasSubstr("--rebuild-catalog")));
  ASSERT_TRUE(node::RebuildCatalog(node.state_dir()).ok());
  node.Start();
  EXPECT_EQ(node.PlayAll(recording, 1).size(), 3u);
}

}  // namespace
}  // namespace tapedeck::storage_node
