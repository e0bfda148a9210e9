// Memory that cannot be had is refused with a reason, before anybody is killed for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>

#include "dataplane/memory/available.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/pages.h"
#include "dataplane/reason.h"

namespace tapedeck::dataplane {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

// A machine's /proc and /sys in a folder.
class Available : public testing::Test {
 protected:
  Available() {
    std::string pattern = testing::TempDir() + "available-XXXXXX";
    root_ = mkdtemp(pattern.data());
    Write("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8192 kB\nBuffers: 1 kB\n");
  }
  ~Available() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(Available, IsWhatTheMachineHas) { EXPECT_EQ(AvailableBytes(root_), 8 * kMiB); }

TEST_F(Available, IsNoMoreThanAGroupLeaves) {
  Write("/proc/self/cgroup", "0::/pods/p1\n");
  Write("/sys/fs/cgroup/pods/p1/memory.max", "max\n");
  Write("/sys/fs/cgroup/pods/p1/memory.current", "999\n");
  EXPECT_EQ(AvailableBytes(root_), 8 * kMiB);
  Write("/sys/fs/cgroup/pods/memory.max", "6291456\n");
  Write("/sys/fs/cgroup/pods/memory.current", "5242880\n");
  EXPECT_EQ(AvailableBytes(root_), 1 * kMiB);
  Write("/sys/fs/cgroup/pods/memory.stat", "anon 7\ninactive_file 1048576\nactive_file 1048576\n");
  EXPECT_EQ(AvailableBytes(root_), 3 * kMiB);
  Write("/sys/fs/cgroup/pods/memory.current", "9999999999\n");
  EXPECT_EQ(AvailableBytes(root_), 0u);
}

// In a container its own group is the root; a path of the host's does not exist there.
TEST_F(Available, IsNoMoreThanTheContainerHas) {
  Write("/proc/self/cgroup", "12:cpu:/docker/x\n4:memory:/docker/x\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "3145728\n");
  Write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1048576\n");
  EXPECT_EQ(AvailableBytes(root_), 2 * kMiB);
}

TEST(HostMemory, MoreThanThereIsIsRefused) {
  for (const size_t bytes : {size_t{1} << 46, size_t{1} << 62}) {
    const absl::Status status = host::Create(bytes).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(ReasonOf(status).value_or(ErrorReason()).reason, "LIMIT_REACHED");
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(bytes)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("fewer slots"));
  }
}

TEST(Pages, ThatTheKernelDoesNotGiveAreRefused) {
  constexpr size_t kPage = 4096;
  void* const address =
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(address, MAP_FAILED);
  const std::span pages(static_cast<std::byte*>(address), 2 * kPage);
  munmap(pages.data() + kPage, kPage);
  const absl::Status status = MakeResident(pages);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(ReasonOf(status).has_value());
  munmap(address, kPage);
}

}  // namespace
}  // namespace tapedeck::dataplane
