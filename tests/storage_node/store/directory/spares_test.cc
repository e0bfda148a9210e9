// Spare files by themselves: who may have them, and what a kill leaves of them.
#include "storage_node/store/directory/spares.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "storage_node/disk/directory.h"
#include "storage_node/disk/fd.h"
#include "tests/storage_node/store/directory/spare_files.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

class SparesAlone : public testing::Test {
 protected:
  services::Lun Lun(uint64_t bytes) const {
    return {.members = {dir_.path()}, .prewrite_files = 1, .prewrite_bytes = bytes};
  }
  std::string folder() const { return dir_.path() + "/.tapedeck/spares"; }
  bool BeginsOne() const {
    for (int tries = 0; fs::is_empty(folder()); ++tries) {
      if (tries == 20'000) return false;
      usleep(100);
    }
    return true;
  }

  TempDir dir_;
  const std::string config_ = dir_.Make(".tapedeck");
};

TEST_F(SparesAlone, FileInUseIsNotGivenBack) {
  const std::string data = dir_.Make("r") + "/data";
  const disk::Directory recording = *disk::Directory::Open(dir_.path() + "/r", dir_.path());
  std::ofstream(data) << std::string(4096, 'x');
  store::directory::Spares spares(Lun(4096), 0);
  ASSERT_TRUE(spares.Start().ok());
  const ino_t inode = InodeOf(data);
  const store::directory::Spares::Use recorder(spares, /*records=*/true);  // nothing is made
  while (spares.Release()) {
  }
  {
    store::directory::Spares::Use use(spares, /*records=*/false);
    use.SetFile(inode);
    spares.GiveBack(recording);
    EXPECT_TRUE(fs::exists(data));
  }
  spares.GiveBack(recording);
  EXPECT_FALSE(fs::exists(data));
  EXPECT_EQ(SparesOf(dir_.path()), std::set<ino_t>{inode});
  EXPECT_TRUE(spares.Take(recording));
  EXPECT_EQ(InodeOf(data), inode);
  fs::remove(data);
  EXPECT_FALSE(spares.Take(recording)) << "none is left";
}

TEST_F(SparesAlone, StopAndRoomDoNotWaitForALargeOne) {
  const auto begin = std::chrono::steady_clock::now();
  {
    store::directory::Spares spares(Lun(2ull << 30), 0);
    ASSERT_TRUE(spares.Start().ok());
    ASSERT_TRUE(BeginsOne());
    EXPECT_TRUE(spares.Release()) << "the one in the making goes";
    EXPECT_TRUE(fs::is_empty(folder()));
    EXPECT_FALSE(spares.Release());
    spares.RoomCameFree();
    ASSERT_TRUE(BeginsOne());
  }
  EXPECT_TRUE(fs::is_empty(folder())) << "the unfinished one goes";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

// Killed at any moment it leaves whole spares, and at most one that is being made.
TEST_F(SparesAlone, WhatAKillLeavesIsWholeOrRemoved) {
  constexpr uint64_t kBytes = 3 << 20;
  services::Lun lun = Lun(kBytes);
  lun.prewrite_files = 4;
  for (useconds_t round = 0; round < 12; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const disk::Directory recording = *disk::Directory::Open(dir_.path(), dir_.path());
      store::directory::Spares spares(lun, 0);
      if (!spares.Start().ok()) _exit(1);
      while (true) {
        usleep(1000);
        spares.Take(recording);
      }
    }
    usleep(2000 + 1700 * round);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    size_t unfinished = 0;
    std::error_code error;  // it may not even have made the folder
    for (const auto& entry : fs::directory_iterator(folder(), error)) {
      if (!entry.path().extension().empty()) {
        ++unfinished;
        continue;
      }
      const disk::Fd fd = *disk::Open(entry.path(), O_RDONLY, folder());
      EXPECT_EQ(lseek(fd.get(), 0, SEEK_HOLE), static_cast<off_t>(kBytes)) << entry.path();
    }
    EXPECT_LE(unfinished, 1u);
    fs::remove(dir_.path() + "/data");
  }
  store::directory::Spares spares(lun, 0);
  ASSERT_TRUE(spares.Start().ok());
  for (int tries = 0; SparesOf(dir_.path()).size() < 4 && tries < 5000; ++tries) usleep(1000);
  EXPECT_EQ(SparesOf(dir_.path()).size(), 4u);
}

}  // namespace
}  // namespace tapedeck::storage_node
