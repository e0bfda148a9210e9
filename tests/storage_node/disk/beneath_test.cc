// Opening below a directory follows no link, with and without openat2(2).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "services/base/errors.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/fd.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node::disk {
namespace {

namespace fs = std::filesystem;
using Opens = Fd (*)(int, const std::string&, int);

class Beneath : public testing::TestWithParam<Opens> {
 protected:
  Beneath() {
    std::ofstream(dir_.path() + "/outside") << "x";
    std::ofstream(dir_.Make("root/a/b") + "/file") << "x";
    fs::create_directory_symlink("a", dir_.path() + "/root/link");
    fs::create_directory_symlink(dir_.path(), dir_.path() + "/root/out");
    fs::create_symlink("file", dir_.path() + "/root/a/b/last");
  }
  // 0 or errno.
  int Open(const std::string& path, int flags = O_RDONLY) {
    const Directory root = *Directory::Open(dir_.path() + "/root", dir_.path());
    const Fd fd = GetParam()(root.fd(), path, flags);
    return fd.get() >= 0 ? 0 : errno;
  }
  TempDir dir_;
};

TEST_P(Beneath, OpensWhatLiesThere) {
  EXPECT_EQ(Open("a/b/file"), 0);
  EXPECT_EQ(Open("a/b", O_RDONLY | O_DIRECTORY), 0);
  EXPECT_EQ(Open(".", O_RDONLY | O_DIRECTORY), 0);
  EXPECT_EQ(Open("a/new", O_RDWR | O_CREAT | O_EXCL), 0);
  EXPECT_EQ(Open("a/new", O_RDWR | O_CREAT | O_EXCL), EEXIST);
  EXPECT_EQ(Open("a/none"), ENOENT);
}

TEST_P(Beneath, FollowsNoLinkAndLeadsNotOut) {
  for (const char* path : {"link/b/file", "a/b/last", "out/outside", "link"}) {
    EXPECT_THAT(Open(path), testing::AnyOf(ELOOP, ENOTDIR)) << path;
  }
  EXPECT_NE(Open("out/made", O_RDWR | O_CREAT), 0);
  EXPECT_NE(Open("../outside"), 0);
  EXPECT_NE(Open("a/../../outside"), 0);
  EXPECT_NE(Open(dir_.path() + "/outside"), 0);
  EXPECT_FALSE(fs::exists(dir_.path() + "/made"));
}

INSTANTIATE_TEST_SUITE_P(Ways, Beneath, testing::Values(&OpenBeneath, &OpenBeneathByParts),
                         [](const auto& info) {
                           return info.param == &OpenBeneath ? "Openat2" : "ByParts";
                         });

class DirectoryTest : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return dir_.path() + "/" + name; }
  static std::string ReasonOf(const absl::Status& status) {
    const auto reason = services::ReasonOf(status);
    return reason.has_value() ? reason->reason : "none";
  }

  TempDir dir_;
  const Directory directory_ = *Directory::Open(dir_.path(), dir_.path());
};

TEST_F(DirectoryTest, WhatIsNoFileIsNamedAndLeftAlone) {
  std::ofstream(At("target")) << "x";
  fs::create_symlink("target", At("link"));
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  fs::create_directory(At("folder"));
  for (const auto& [name, what] : std::map<std::string, std::string>{
           {"link", "a symbolic link"}, {"fifo", "a FIFO"}, {"folder", "a directory"}}) {
    for (const int flags : {O_RDONLY, O_RDWR | O_CREAT}) {
      const absl::Status status = directory_.OpenFile(name, flags).status();
      EXPECT_EQ(ReasonOf(status), "MEMBER_UNUSABLE") << status;
      EXPECT_THAT(std::string(status.message()),
                  testing::AllOf(testing::HasSubstr("open " + At(name)), testing::HasSubstr(what)));
    }
    EXPECT_FALSE(directory_.WriteFile(name, "y").ok()) << name;
    EXPECT_FALSE(*directory_.RemoveFile(name)) << name;
    EXPECT_TRUE(fs::exists(fs::symlink_status(At(name)))) << name;
  }
  EXPECT_EQ(*directory_.ReadFile("target", 10), "x");
  EXPECT_TRUE(absl::IsNotFound(directory_.ReadFile("none", 10).status()));
}

TEST_F(DirectoryTest, TemporaryOfACrashGoesWithItsNameOnly) {
  std::ofstream(At("mine")) << "x";
  fs::create_hard_link(At("mine"), At("file.new"));
  EXPECT_TRUE(directory_.WriteFile("file", "y").ok());
  EXPECT_EQ(*directory_.ReadFile("file", 10), "y");
  EXPECT_EQ(*directory_.ReadFile("mine", 10), "x");
}

TEST_F(DirectoryTest, NothingIsReplacedByARename) {
  fs::create_directory(At("a"));
  fs::create_directory(At("b"));
  EXPECT_TRUE(absl::IsAlreadyExists(directory_.Rename("a", directory_, "b")));
  EXPECT_TRUE(directory_.Rename("a", directory_, "c").ok());
  EXPECT_TRUE(absl::IsNotFound(directory_.Rename("a", directory_, "d")));
  std::ofstream(At("b/file")) << "x";
  EXPECT_FALSE(*directory_.RemoveEmpty("b"));
  EXPECT_TRUE(*directory_.RemoveEmpty("c"));
  EXPECT_FALSE(*directory_.RemoveEmpty("c"));
}

}  // namespace
}  // namespace tapedeck::storage_node::disk
