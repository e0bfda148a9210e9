// Which devices a device store takes, and how it finds them again.
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>

#include "storage_node/disk/fd.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/loop_device.h"
#include "tests/storage_node/store/device/device_fixture.h"

namespace tapedeck::storage_node::store::device {
namespace {

using DeviceTest = DeviceStoreTest;

TEST_F(DeviceTest, DeviceThatHoldsSomethingElseIsRefused) {
  const struct {
    uint64_t offset;
    std::string bytes;
    std::string name;
  } cases[] = {{1080, "\x53\xef", "ext4"},
               {0, "XFSB", "XFS"},
               {65600, "_BHRfS_M", "btrfs"},
               {512, "EFI PART", "GPT"},
               {510, "\x55\xaa", "MBR"},
               {0, "LUKS\xba\xbe", "LUKS"},
               {512, "LABELONE", "LVM"},
               {4096, "\xfc\x4e\x2b\xa9", "RAID"},
               {4086, "SWAPSPACE2", "swap"},
               {0, "TDBLOCK1", "Tapedeck"},
               {777'777, "x", "not zero at byte 777777"},
               {kHeadBytes - 1, "x", "not zero at byte 1048575"},
               {kImageBytes - 512, "EFI PART", "GPT"},
               {kImageBytes - kTailBytes, "x", "not zero at byte 0 of its last"},
               {kImageBytes - 1, "x", "not zero at byte 65535 of its last"}};
  for (const auto& c : cases) {
    Use(dir_.MakeImage("m0", 0));
    Use(dir_.MakeImage("m0", kImageBytes));
    PutBytes(c.offset, c.bytes);
    ExpectRefused(c.name);
    EXPECT_THAT(std::string(device::Create(lun_, 0).status().message()),
                testing::HasSubstr("wipefs -a " + image()));
    PutBytes(c.offset, std::string(c.bytes.size(), '\0'));
    CreateStore();
    store_ = nullptr;
  }
}

TEST_F(DeviceTest, FileSystemThatMkfsMadeIsRefused) {
  if (std::system(("mkfs.ext4 -q -F " + image() + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no mkfs.ext4 here";
  }
  ExpectRefused("an ext2, ext3 or ext4 file system at byte 1080");
}

TEST_F(DeviceTest, MountedDeviceIsRefusedAndTheAdviceHelps) {
  const LoopDevice loop(image());
  const std::string mounted = dir_.Make("mnt");
  if (loop.path().empty() ||
      std::system(("mkfs.ext4 -q -F " + loop.path() + " 2>/dev/null").c_str()) != 0 ||
      // Read-only: ext4 itself writes now and then.
      mount(loop.path().c_str(), mounted.c_str(), "ext4", MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "no loop device, mkfs.ext4 or mount here";
  }
  Use(loop.path());
  ExpectRefused("mounted");
  ASSERT_EQ(umount(mounted.c_str()), 0);
  ExpectRefused("ext4");
  const std::string erase = "wipefs -q -a " + loop.path() + " && blkdiscard -f -z " + loop.path();
  if (std::system(erase.c_str()) != 0) GTEST_SKIP() << "no wipefs or blkdiscard here";
  CreateStore();
}

TEST_F(DeviceTest, LunOfOursIsRefusedUntilItIsRemoved) {
  CreateStore();
  store_ = nullptr;
  ExpectRefused("a device LUN of Tapedeck");
  services::Lun other = lun_;
  other.uid = "99112233-4455-4677-8899-aabbccddeeff";
  EXPECT_THAT(std::string(device::Open(other, 0).status().message()), testing::HasSubstr(lun_.uid));
  EXPECT_TRUE(device::Remove(other, 0).ok()) << "it is not the other LUN's";
  Reopen();
  store_ = nullptr;
  EXPECT_TRUE(device::Remove(lun_, 0).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(device::Open(lun_, 0).status()));
  CreateStore();
}

TEST_F(DeviceTest, WhatIsNoDeviceOfUseIsNamed) {
  const auto refusal = [&](const std::string& member) {
    Use(member);
    return std::string(device::Create(lun_, 0).status().message());
  };
  EXPECT_THAT(refusal(dir_.MakeImage("small", kImageBytes - 1)), testing::HasSubstr("67108864"));
  EXPECT_THAT(refusal(dir_.path()), testing::HasSubstr("neither a block device nor a file"));
  EXPECT_THAT(refusal(dir_.path() + "/none"), testing::HasSubstr("No such file"));
  EXPECT_THAT(refusal("/dev/null"), testing::HasSubstr("neither a block device nor a file"));
}

TEST_F(DeviceTest, SecondNodeIsRefusedAndToldWhoHasIt) {
  CreateStore();
  const LoopDevice loop(image());
  for (const std::string& member : {image(), loop.path()}) {
    if (member.empty()) continue;
    Use(member);
    Reopen();
    const absl::Status status = device::Open(lun_, 0).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("in use by pid " + std::to_string(getpid()) + " on host"));
    store_ = nullptr;
  }
}

// Also where the kernel takes its time to end an io_uring.
TEST_F(DeviceTest, DeviceOfAClosedStoreIsFreeAtOnce) {
  CreateStore();
  for (int round = 0; round < 20; ++round) {
    auto files = Make({.channel = "c", .recording = "r" + std::to_string(round)});
    ASSERT_TRUE(Write(*files, 0, 1).ok());
    files = nullptr;
    store_ = nullptr;
    ring_ = nullptr;
    {
      const disk::Fd fd(open(image().c_str(), O_RDWR | O_CLOEXEC));
      ASSERT_EQ(flock(fd.get(), LOCK_EX | LOCK_NB), 0) << "in use after round " << round;
    }
    Reopen();
    ASSERT_TRUE(
        store_->DeleteRecording({.channel = "c", .recording = "r" + std::to_string(round)}).ok());
  }
}

TEST_F(DeviceTest, SuperblockHasACopyAndAShrunkDeviceIsNamed) {
  CreateStore();
  ASSERT_TRUE(SetManifest(*Make(kPath), "m").ok());
  store_ = nullptr;
  FlipBit(image(), 20);
  Reopen();
  EXPECT_EQ(GetManifest(*Again(kPath)), "m");
  store_ = nullptr;
  FlipBit(image(), 20);
  ASSERT_EQ(truncate(image().c_str(), kImageBytes + 8192), 0) << "larger is no harm";
  Reopen();
  store_ = nullptr;
  lun_.members[0] = dir_.MakeImage("m1", kImageBytes + (1 << 20));
  CreateStore();
  store_ = nullptr;
  ASSERT_EQ(truncate(image().c_str(), kImageBytes), 0);
  EXPECT_THAT(std::string(device::Open(lun_, 0).status().message()),
              testing::HasSubstr("when the LUN was created"));
}

}  // namespace
}  // namespace tapedeck::storage_node::store::device
