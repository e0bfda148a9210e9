// Files that jobs name lie beneath the directories that were given for that, whatever lies there.
#include "services/base/files/file_roots.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/base/files/root_path.h"

namespace tapedeck::services::files {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : status.ToString();
}

class FileRootsTest : public testing::Test {
 protected:
  FileRootsTest() {
    for (const char* name : {"in", "in/deep", "out", "outside"}) fs::create_directories(path(name));
    Write("in/a");
    Write("in/deep/a");
    Write("outside/secret");
    fs::create_symlink("../outside/secret", path("in/link"));
    fs::create_directory_symlink("../outside", path("in/folder"));
    fs::create_directory_symlink("deep", path("in/inward"));
    fs::create_directory_symlink("../outside", path("out/folder"));
  }
  ~FileRootsTest() override { fs::remove_all(top_); }

  std::string path(const std::string& name) const { return top_ + "/" + name; }
  void Write(const std::string& name) const { std::ofstream(path(name)) << "text"; }
  FileRoots Roots() const {
    const auto roots = FileRoots::Parse({"read:" + path("in") + "/", "write:" + path("out")});
    EXPECT_TRUE(roots.ok()) << roots.status();
    EXPECT_TRUE(roots->CheckKernel().ok()) << roots->CheckKernel();
    return *roots;
  }
  std::string Opening(const std::string& name) const {
    return ReasonIn(Roots().OpenInput(name).status());
  }
  std::string Creating(const std::string& name, bool replace = false) const {
    return ReasonIn(Roots().CreatePart(name, replace).status());
  }

  const std::string top_ = testing::TempDir() + "/file_roots." + std::to_string(getpid());
};

TEST_F(FileRootsTest, ReadsWhatLiesBeneath) {
  for (const char* name : {"in/a", "in/deep/a", "in//deep/../a"}) {
    const auto file = Roots().OpenInput(path(name));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->bytes, 4u);
    EXPECT_EQ(file->path, path(name));
  }
  EXPECT_EQ(Opening(path("in/none")), "FILE_NOT_FOUND");
  EXPECT_EQ(Opening(path("in/deep")), "FILE_INVALID");
  EXPECT_EQ(Opening(path("in/")), "FILE_INVALID");
}

TEST_F(FileRootsTest, NothingElseIsRead) {
  fs::create_directory(path("inner"));
  for (const std::string& name :
       {path("outside/secret"), path("in/../outside/secret"), path("in/link"),
        path("in/folder/secret"), path("in/inward/a"), path("inner/a"), path("out/x"),
        std::string("/proc/self/root/etc/passwd"), std::string("in/a"), std::string("a")}) {
    const absl::Status status = Roots().OpenInput(name).status();
    EXPECT_EQ(ReasonIn(status), "FILE_OUTSIDE_ROOTS") << name;
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_EQ(ReasonOf(status)->metadata.at("path"), name);
    EXPECT_EQ(ReasonOf(status)->metadata.at("option"), "--file-root read:DIR");
    EXPECT_THAT(std::string(status.message()), HasSubstr("--file-root"));
  }
}

// A FIFO would be waited for.
TEST_F(FileRootsTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path("in/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Opening(path("in/fifo")), "FILE_INVALID");
}

// With a lease of another's, open(2) without waiting says EAGAIN until the kernel breaks it, which
// takes up to /proc/sys/fs/lease-break-time: 45 s.
TEST_F(FileRootsTest, ALeaseKeepsNobodyForLong) {
  signal(SIGIO, SIG_IGN);  // what tells the holder
  const int held = open(path("in/a").c_str(), O_RDWR);
  if (fcntl(held, F_SETLEASE, F_WRLCK) != 0) {
    close(held);
    GTEST_SKIP() << "no leases on this file system";
  }
  const absl::Time begin = dataplane::SteadyTime();
  const absl::Status status = Roots().OpenInput(path("in/a")).status();
  EXPECT_LT(dataplane::SteadyTime() - begin, absl::Seconds(20));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Resource temporarily unavailable"));
  close(held);
  EXPECT_EQ(Opening(path("in/a")), "OK");
}

TEST_F(FileRootsTest, WritesBeneathAndNowhereElse) {
  auto part = Roots().CreatePart(path("out/new"), false);
  ASSERT_TRUE(part.ok()) << part.status();
  ASSERT_TRUE((*part)->Publish().ok());
  EXPECT_TRUE(fs::is_regular_file(path("out/new")));
  EXPECT_EQ(Creating(path("out/new")), "FILE_EXISTS");
  EXPECT_TRUE(Roots().CreatePart(path("out/new"), true).ok());
  fs::create_symlink("../outside/secret", path("out/link"));
  EXPECT_EQ(Creating(path("out/link"), true), "FILE_INVALID");
  EXPECT_EQ(Creating(path("out/none/new")), "FILE_NOT_FOUND");
  for (const std::string& name :
       {path("in/new"), path("out/folder/new"), path("out/../outside/new"), path("out"),
        std::string("new"), std::string("out/new"), std::string("/new")}) {
    EXPECT_EQ(Creating(name, true), "FILE_OUTSIDE_ROOTS") << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path("outside")), {}), 1);
}

TEST_F(FileRootsTest, WithoutDirectoriesNoneMayBeNamedOrAny) {
  const absl::Status status = FileRoots().OpenInput(path("in/a")).status();
  EXPECT_EQ(ReasonIn(status), "FILE_OUTSIDE_ROOTS");
  EXPECT_THAT(std::string(status.message()), HasSubstr("--file-root read:" + path("in")));
  EXPECT_EQ(ReasonIn(FileRoots().CreatePart(path("out/x"), false).status()), "FILE_OUTSIDE_ROOTS");
  EXPECT_EQ(FileRoots().Described(), "none");
  EXPECT_TRUE(FileRoots::Anywhere().OpenInput(path("in/link")).ok());
  EXPECT_TRUE(FileRoots::Anywhere().CreatePart(path("in/x"), false).ok());
}

// Whoever may write in a directory swaps a folder of it for a link while jobs open beneath it.
TEST_F(FileRootsTest, NoSwapLeadsOut) {
  Write("in/deep/secret");
  std::ofstream(path("outside/secret")) << "not to be read";
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      fs::rename(path("in/deep"), path("in/aside"));
      fs::create_directory_symlink("../outside", path("in/deep"));
      fs::remove(path("in/deep"));
      fs::rename(path("in/aside"), path("in/deep"));
    }
  });
  int opened = 0;
  // Where the swapper has a core and this loop waits for one, none of the first may have met the
  // folder at its name.
  const absl::Time until = dataplane::SteadyTime() + absl::Seconds(30);
  for (int i = 0; i < 3000 || (opened == 0 && dataplane::SteadyTime() < until); ++i) {
    const auto file = Roots().OpenInput(path("in/deep/secret"));
    if (!file.ok()) continue;
    EXPECT_EQ(file->bytes, 4u);
    ++opened;
  }
  stop = true;
  swapper.join();
  EXPECT_GT(opened, 0);
}

TEST(FileRootsTextTest, WhatIsNoDirectoryIsRefused) {
  EXPECT_TRUE(FileRoots::CheckText("read:/").ok());
  EXPECT_TRUE(FileRoots::CheckText("write:/srv/a:b").ok());
  for (const char* text : {"", "read", "/srv", "read:", "read:srv", "append:/srv"}) {
    EXPECT_FALSE(FileRoots::CheckText(text).ok()) << text;
  }
  EXPECT_FALSE(FileRoots::CheckText("read:/" + std::string(4096, 'a')).ok());
  std::vector<std::string> many(kMaxRoots, "read:/srv");
  EXPECT_TRUE(FileRoots::Parse(many).ok());
  many.emplace_back("write:/srv");
  EXPECT_FALSE(FileRoots::Parse(many).ok());
}

TEST(PathBeneathTest, ByNamesAlone) {
  EXPECT_EQ(PathBeneath("/a/b/c", "/a"), "b/c");
  EXPECT_EQ(PathBeneath("/a//b", "/a/"), "b");
  EXPECT_EQ(PathBeneath("/a/", "/a"), "");
  EXPECT_EQ(PathBeneath("/x", "/"), "x");
  for (const char* path : {"/a", "/ab/c", "a/b", ""}) {
    EXPECT_EQ(PathBeneath(path, "/a"), std::nullopt) << path;
  }
  EXPECT_EQ(PathBeneath("x", "/"), std::nullopt);
}

}  // namespace
}  // namespace tapedeck::services::files
