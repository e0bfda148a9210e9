// A deletion of a striped recording whose every flush of a directory fails once, and that is tried
// again: before a part goes, every member has durably forgotten the manifest. Else a power cut
// could bring the manifest back beside parts that are gone.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "tests/faults/failing_flush.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

ino_t InodeOf(const std::string& path) {
  struct stat file {};
  EXPECT_EQ(stat(path.c_str(), &file), 0) << path;
  return file.st_ino;
}

TEST(DeletionFlush, IsDoneAgainWhereItFailed) {
  NodeFixture node("posix", 2);
  int failed = 0;
  for (int which = 1;; ++which) {
    SCOPED_TRACE(testing::Message() << "flush " << which);
    const std::string name = node.RecordAndSeal(4);
    const std::set<ino_t> parts = {InodeOf(node.Directory(name, 0)),
                                   InodeOf(node.Directory(name, 1))};
    faults::ForgetFlushedDirectories();
    faults::FailDirectoryFlush(which);
    const absl::Status first = node.node().recordings().DeleteRecording(name);
    faults::FailDirectoryFlush(0);
    if (first.ok()) break;
    ++failed;
    // A start would end the deletion, whatever was noted meanwhile.
    const absl::Status kept = node.node().recorder().KeepRecording(name, true);
    EXPECT_EQ(Reason(kept), "RECORDING_BUSY") << kept;
    EXPECT_TRUE(node.node().recordings().DeleteRecording(name).ok());
    const std::set<ino_t> flushed = faults::FlushedDirectories();
    EXPECT_TRUE(std::ranges::includes(flushed, parts));
    EXPECT_FALSE(std::filesystem::exists(node.Directory(name, 0)));
  }
  EXPECT_GE(failed, 4) << "two manifests and two parts";
}

}  // namespace
}  // namespace tapedeck::storage_node
