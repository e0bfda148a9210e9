// What a closed recording has on its members has been flushed as it is: the files' bytes, and the
// directories that name them. Nothing else would be there after a power cut.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/faults/failing_flush.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

ino_t InodeAt(const std::string& path) {
  struct stat file {};
  EXPECT_EQ(stat(path.c_str(), &file), 0) << path;
  return file.st_ino;
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class FlushedFiles : public testing::TestWithParam<int> {};

TEST_P(FlushedFiles, AClosedRecordingIsOnItsDisks) {
  NodeFixture node("posix", GetParam());
  faults::ForgetFlushedDirectories();
  faults::KeepFlushedBytes();
  const std::string name = node.RecordAndSeal(4);
  for (int member = 0; member < GetParam(); ++member) {
    const std::string directory = node.Directory(name, member);
    EXPECT_TRUE(faults::FlushedDirectories().contains(InodeAt(directory))) << directory;
    const std::string channel = directory.substr(0, directory.rfind('/'));
    EXPECT_TRUE(faults::FlushedDirectories().contains(InodeAt(channel))) << channel;
    for (const std::string file : {"data", "index", "manifest.json"}) {
      const std::string path = directory + "/" + file;
      const auto flushed = faults::FlushedBytes(InodeAt(path));
      ASSERT_TRUE(flushed.has_value()) << path;
      EXPECT_TRUE(*flushed == ContentOf(path)) << path << " changed after it was flushed";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Members, FlushedFiles, testing::Values(1, 2));

}  // namespace
}  // namespace tapedeck::storage_node
